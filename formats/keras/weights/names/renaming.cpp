#include "keras/weights/names/renaming.h"

#include <algorithm>
#include <optional>

#include "crescent/base/error.h"

namespace crescent::keras {
namespace {

/// The part of the name that matches the * in the pattern; nullopt if the name does not match.
std::optional<std::string> star_match(const std::string& pattern, const std::string& name) {
  const size_t star_position = pattern.find('*');
  if (star_position == pattern.npos)
    return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string prefix = pattern.substr(0, star_position),
                    suffix = pattern.substr(star_position + 1);
  if (name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix))
    return std::nullopt;
  return name.substr(star_position, name.size() - prefix.size() - suffix.size());
}

}  // namespace

Renaming::Renaming(const Value& map) {
  if (map.is_null()) return;
  if (!map.is_dict()) fail("rename: expected names by names, got ", map);
  for (const DictEntry& entry : map.as_dict()) {
    if (!entry.value.is_string())
      fail("rename: expected a name for '", entry.key, "', got ", entry.value);
    for (const std::string& text : {entry.key, entry.value.as_string()})
      if (std::count(text.begin(), text.end(), '*') > 1)
        fail("rename: '", text, "' has more than one *");
    patterns_.emplace_back(entry.key, entry.value.as_string());
  }
}

std::string Renaming::operator()(const std::string& name) const {
  for (const auto& [pattern, new_name] : patterns_)
    if (const auto star_text = star_match(pattern, name)) {
      const size_t star_position = new_name.find('*');
      return star_position == new_name.npos ? new_name
                                            : new_name.substr(0, star_position) + *star_text +
                                                  new_name.substr(star_position + 1);
    }
  return name;
}

void Renaming::expect_all_match(const std::string& path,
                                const std::vector<std::string>& names) const {
  for (const auto& [pattern, new_name] : patterns_)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) {
          return star_match(pattern, name).has_value();
        }))
      fail("'", path, "': rename: the file has no '", pattern, "'", did_you_mean(pattern, names),
           "; it has: ", join(names), "; nothing was loaded");
}

}  // namespace crescent::keras
