#include "keras/weights/names/group_names.h"

#include <algorithm>
#include <cctype>

#include "crescent/layer/training.h"

namespace crescent::keras {
namespace {

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)); }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)); }

}  // namespace

std::string keras3_snake_case(const std::string& registered_name) {
  const std::string class_name = registered_name.substr(registered_name.rfind('>') + 1);
  std::string snake;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const char c = class_name[i];
    const bool follows_lower = i > 0 && is_lower(class_name[i - 1]),
               precedes_lower = i + 1 < class_name.size() && is_lower(class_name[i + 1]);
    if (i > 0 && is_upper(c) && (follows_lower || precedes_lower)) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return snake;
}

std::string GroupNames::base_of(const std::string& class_name) {
  const std::string keras3 = keras3_snake_case(class_name), keras2 = to_snake_case(class_name);
  if (!file_ || keras3 == keras2) return keras3;
  const Names members = file_->members(group_).value_or(Names{});
  return std::find(members.begin(), members.end(), keras2) == members.end() ? keras3 : keras2;
}

std::string GroupNames::next(const std::string& class_name) {
  const auto [base_name_entry, is_new] = base_names_.try_emplace(class_name);
  if (is_new) base_name_entry->second = base_of(class_name);
  const int count = counts_[base_name_entry->second]++;
  return count == 0 ? base_name_entry->second : concat(base_name_entry->second, "_", count);
}

}  // namespace crescent::keras
