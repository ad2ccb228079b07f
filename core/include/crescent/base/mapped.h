// mapped(): a copy of a Value in which some of the values inside are replaced.
#pragma once
#include <optional>

#include "crescent/base/value.h"

namespace crescent {

/// Copies `value`. Wherever change(v), which returns std::optional<Value>, has a result for `value`
/// itself or for a value nested in its lists and dictionaries, the result replaces it.
template <class Change>
Value mapped(const Value& value, const Change& change) {
  if (std::optional<Value> changed = change(value)) return *std::move(changed);
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(mapped(item, change));
    return list;
  }
  if (!value.is_dict()) return value;
  std::vector<DictEntry> entries;
  for (const DictEntry& entry : value.as_dict())
    entries.push_back({entry.key, mapped(entry.value, change)});
  return Dict::from(std::move(entries));
}

}  // namespace crescent
