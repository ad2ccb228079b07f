#include "crescent/base/structure.h"

#include <functional>

#include <algorithm>
#include <map>

#include "crescent/base/error.h"

namespace crescent {
namespace {

/// Calls visit(path, leaf) for every leaf in order.
template <class IsLeaf, class Visit>
void visit_leaves(const Value& nested, List& path, const IsLeaf& is_leaf, const Visit& visit) {
  const auto visit_child = [&](Value step, const Value& child) {
    path.push_back(std::move(step));
    visit_leaves(child, path, is_leaf, visit);
    path.pop_back();
  };
  if (is_leaf(nested)) {
    visit(path, nested);
  } else if (nested.is_list()) {
    for (size_t i = 0; i < nested.as_list().size(); ++i) visit_child(i, nested.as_list()[i]);
  } else if (nested.is_dict()) {
    std::vector<std::string> names = nested.as_dict().keys();
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) visit_child(name, nested.as_dict().at(name));
  } else {
    visit(path, nested);
  }
}

bool is_leaf_value(const Value& value) { return !value.is_list() && !value.is_dict(); }

std::string joined_path(const List& path) {
  std::vector<std::string> steps;
  for (const Value& step : path)
    steps.push_back(step.is_string() ? step.as_string() : std::to_string(step.as_int()));
  return join(steps, "/");
}

Value packed_from(const Value& structure, List::const_iterator& next_leaf) {
  if (structure.is_list()) {
    List list;
    for (const Value& item : structure.as_list()) list.push_back(packed_from(item, next_leaf));
    return list;
  }
  if (!structure.is_dict()) return structure.is_null() ? Value() : *next_leaf++;
  std::vector<std::string> names = structure.as_dict().keys();
  std::sort(names.begin(), names.end());
  Dict dict;
  for (const std::string& name : names)
    dict.set(name, packed_from(structure.as_dict().at(name), next_leaf));
  return dict;
}

bool is_tensor(const Value& structure) { return structure.is_bool(); }

std::string text_from(const Value& structure, size_t& next_leaf_number) {
  std::vector<std::string> items;
  if (structure.is_list()) {
    for (const Value& item : structure.as_list())
      items.push_back(text_from(item, next_leaf_number));
  } else if (structure.is_dict()) {
    std::vector<std::string> names = structure.as_dict().keys();
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      items.push_back(
          concat(name, " = ", text_from(structure.as_dict().at(name), next_leaf_number)));
  } else if (structure.is_null()) {
    return "cr.null";
  } else {
    constexpr size_t kLetterCount = 26;
    const size_t leaf_number = next_leaf_number++;
    const std::string letter(1, static_cast<char>('a' + leaf_number % kLetterCount));
    return leaf_number < kLetterCount ? letter : concat(letter, leaf_number / kLetterCount);
  }
  return "{" + join(items) + "}";
}

}  // namespace

List leaves_of(const Value& nested) {
  List leaves, path;
  visit_leaves(nested, path, is_leaf_value,
               [&](const List&, const Value& leaf) { leaves.push_back(leaf); });
  return leaves;
}

Value structure_of(const Value& nested) {
  if (nested.is_list()) {
    List list;
    for (const Value& item : nested.as_list()) list.push_back(structure_of(item));
    return list;
  }
  if (!nested.is_dict()) return nested.is_null() ? Value() : Value(true);
  Dict dict;
  for (const DictEntry& entry : nested.as_dict()) dict.set(entry.key, structure_of(entry.value));
  return dict;
}

Value packed(const Value& structure, const List& leaves) {
  if (const size_t count = tensor_count(structure); count != leaves.size())
    fail("expected ", count, " tensors, ", structure_text(structure), ", got ", leaves.size());
  auto next_leaf = leaves.begin();
  return packed_from(structure, next_leaf);
}

size_t tensor_count(const Value& structure) {
  const List leaves = leaves_of(structure);
  return static_cast<size_t>(std::count_if(leaves.begin(), leaves.end(), is_tensor));
}

Value nested_or_null(Value structure) {
  if (is_tensor(structure)) return {};
  if (!structure.is_list()) return structure;
  const List& items = structure.as_list();
  return std::all_of(items.begin(), items.end(), is_tensor) ? Value() : structure;
}

std::vector<std::string> keys_of(const Value& structure) {
  if (!structure.is_dict()) return {};
  std::vector<std::string> names;
  for (const DictEntry& entry : structure.as_dict()) {
    if (!is_tensor(entry.value)) return {};
    names.push_back(entry.key);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Value structure_of_keys(const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  Dict dict;
  for (const std::string& key : keys) dict.set(key, true);
  return dict;
}

std::vector<List> paths_of(const Value& structure) {
  std::vector<List> paths;
  List path;
  visit_leaves(structure, path, is_leaf_value,
               [&](const List& leaf_path, const Value&) { paths.push_back(leaf_path); });
  return paths;
}

bool is_deep(const Value& structure) {
  return !nested_or_null(structure).is_null() && keys_of(structure).empty();
}

std::vector<std::string> names_in_data(const Value& structure, std::vector<std::string> names) {
  if (!is_deep(structure)) return names;
  names.clear();
  for (const List& path : paths_of(structure)) names.push_back(joined_path(path));
  return names;
}

bool is_deep(const Value& data, bool (*is_leaf)(const Value&)) {
  if (is_leaf(data)) return false;
  const auto is_structure = [&](const Value& item) {
    return !is_leaf(item) && (item.is_list() || item.is_dict());
  };
  if (data.is_list())
    return std::any_of(data.as_list().begin(), data.as_list().end(), is_structure);
  return data.is_dict() &&
         std::any_of(data.as_dict().begin(), data.as_dict().end(),
                     [&](const DictEntry& entry) { return is_structure(entry.value); });
}

List leaves_by_name(const Value& data, bool (*is_leaf)(const Value&),
                    const std::vector<std::string>& names) {
  List path, leaves;
  std::map<std::string, Value> leaf_of_name;
  visit_leaves(data, path, is_leaf, [&](const List& leaf_path, const Value& leaf) {
    leaves.push_back(leaf);
    leaf_of_name[joined_path(leaf_path)] = leaf;
  });
  if (names.empty()) return leaves;
  List ordered_leaves;
  for (const std::string& name : names)
    if (const auto entry = leaf_of_name.find(name); entry != leaf_of_name.end())
      ordered_leaves.push_back(entry->second);
  if (ordered_leaves.size() == names.size() && leaf_of_name.size() == names.size())
    return ordered_leaves;
  std::vector<std::string> data_names;
  for (const auto& [name, leaf] : leaf_of_name) data_names.push_back(name);
  fail("expected data nested as the model has it, ", join(names), ", got ", join(data_names));
}

std::string structure_text(const Value& structure) {
  size_t next_leaf_number = 0;
  return text_from(structure, next_leaf_number);
}

}  // namespace crescent
