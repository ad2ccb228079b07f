// A Value with parts of it replaced.
#pragma once
#include <optional>

#include "crescent/base/value.h"

namespace crescent {

/// The value, or what lists and dictionaries in it hold, replaced where change(value) gives another
/// (a std::optional<Value>).
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
