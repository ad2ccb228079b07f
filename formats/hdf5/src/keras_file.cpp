#include "keras_file.h"

#include "tensors.h"

namespace crescent::hdf5 {
namespace {

Attribute to_attribute(const DictEntry& entry) {
  const Value& value = entry.value;
  if (value.is_int()) return {entry.key, value.as_int()};
  if (value.is_string()) return {entry.key, value.as_string()};
  std::vector<std::string> texts;
  for (const Value& text : value.as_list()) texts.push_back(text.as_string());
  return {entry.key, std::move(texts)};
}

}  // namespace

Tree tree_of(const keras::Entries& entries) {
  Tree tree;
  for (const keras::Entry& entry : entries) {
    tree.push_back(entry.value ? dataset_node(entry.path, entry.value) : Node{entry.path, {}, {}});
    for (const DictEntry& attribute : entry.attributes)
      tree.back().attributes.push_back(to_attribute(attribute));
  }
  return tree;
}

std::optional<int64_t> KerasFile::integer(const std::string& group, const std::string& name) {
  const auto value = file_.attribute(group, name);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&*value)) return *number;
  fail("'", path(), "': attribute '", name, "' of '/", group,
       "': expected an integer; nothing was loaded");
}

std::vector<DatasetInfo> KerasFile::infos_of(const keras::Names& datasets) {
  keras::Names names_to_read;
  for (const std::string& name : datasets)
    if (!infos_.contains(name)) names_to_read.push_back(name);
  std::vector<DatasetInfo> new_infos = file_.describe(names_to_read), infos;
  for (size_t i = 0; i < names_to_read.size(); ++i)
    infos_[names_to_read[i]] = std::move(new_infos[i]);
  for (const std::string& name : datasets) infos.push_back(infos_.at(name));
  return infos;
}

std::vector<TensorSpec> KerasFile::describe(const keras::Names& datasets) {
  const std::vector<DatasetInfo> infos = infos_of(datasets);
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < infos.size(); ++i)
    specs.push_back({dtype_of(infos[i].type), shape_of(infos[i].shape, "'/" + datasets[i] + "'")});
  return specs;
}

std::vector<keras::DatasetValues> KerasFile::read(const keras::Names& datasets) {
  const std::vector<DatasetInfo> infos = infos_of(datasets);
  const std::vector<Array> arrays = file_.read(datasets, infos);
  std::vector<keras::DatasetValues> values;
  for (size_t i = 0; i < arrays.size(); ++i)
    values.push_back({to_tensor(arrays[i]), arrays[i].is_finite, file_.stays_in_file(infos[i])});
  return values;
}

}  // namespace crescent::hdf5
