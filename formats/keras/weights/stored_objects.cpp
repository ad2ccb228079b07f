#include "keras/weights/stored_objects.h"

#include <map>

namespace crescent::keras {
namespace {

constexpr const char* kVars = "vars";

/// An object of a file while its parts are collected.
struct StoredObject {
  Dict attributes, weights;
  bool in_vars = true;
};
/// Objects by path.
using StoredObjects = std::map<std::string, StoredObject>;

List rows_of(const StoredObjects& objects) {
  List rows;
  for (const auto& [path, object] : objects)
    rows.push_back(Dict{{"path", path},
                        {"attributes", object.attributes},
                        {"weights", object.weights},
                        {"in_vars", object.in_vars}});
  return rows;
}

std::string joined(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

/// The members of a group; nullopt for an array.
std::optional<Names> members_unless_array(WeightSource& file, const std::string& path) {
  try {
    return file.members(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Collects the objects of a file and the paths of their arrays.
class Collector {
 public:
  explicit Collector(WeightSource& file) : file_(file) {}

  StoredObjects collect() {
    collect_group("", *file_.members(""));
    const std::vector<DatasetValues> values = file_.read(arrays_);
    for (size_t i = 0; i < arrays_.size(); ++i)
      targets_[i].first->weights.set(targets_[i].second, Codec<Tensor>::encode(values[i].values));
    return std::move(objects_);
  }

 private:
  void collect_group(const std::string& path, const Names& members) {
    if (++group_count_ > 100'000) fail("'", file_.path(), "' has more groups than are looked at");
    StoredObject& object = objects_[path];
    for (const std::string& name : members) {
      const std::string member_path = joined(path, name);
      const auto inner_members = members_unless_array(file_, member_path);
      if (!inner_members) {
        add_array(object, member_path, name);
        object.in_vars = false;
      } else if (name == kVars) {
        if (const auto own_name = file_.text(member_path, "name"))
          object.attributes.set("name", *own_name);
        for (const std::string& weight : *inner_members)
          add_array(object, joined(member_path, weight), weight);
      } else {
        collect_group(member_path, *inner_members);
      }
    }
    if (object.in_vars) return;
    if (const auto count = file_.integer(path, "count")) object.attributes.set("count", *count);
  }

  void add_array(StoredObject& object, const std::string& path, const std::string& name) {
    arrays_.push_back(path);
    targets_.emplace_back(&object, name);
  }

  WeightSource& file_;
  StoredObjects objects_;
  Names arrays_;
  /// for each array its object and its name in the object
  std::vector<std::pair<StoredObject*, std::string>> targets_;
  int group_count_ = 0;
};

/// Splits a path into that of the object and the name of the last part.
std::pair<std::string, std::string> split(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string(), path)
                                    : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

/// A Dict; in Lua, an empty one is the same as an empty list.
Dict dict_of(const Value& value) { return value.is_dict() ? value.as_dict() : Dict(); }

}  // namespace

List stored_objects(WeightSource& file) { return rows_of(Collector(file).collect()); }

List stored_objects(const Entries& entries) {
  StoredObjects objects;
  for (const Entry& entry : entries) {
    auto [group, name] = split(entry.path);
    const bool is_group = !entry.value;
    std::string object_path = is_group ? entry.path : group;
    const bool in_vars = split(object_path).second == kVars;
    if (in_vars) object_path = split(object_path).first;
    StoredObject& object = objects[object_path];
    object.in_vars = in_vars;
    if (is_group)
      object.attributes = entry.attributes;
    else
      object.weights.set(name, Codec<Tensor>::encode(entry.value));
  }
  return rows_of(objects);
}

Entries entries_of(const List& objects) {
  Entries entries;
  for (const Value& row : objects) {
    const Dict& object = row.as_dict();
    const std::string path = object.at("path").as_string();
    const Dict attributes = dict_of(object.at("attributes")),
               weights = dict_of(object.at("weights"));
    const bool is_bare = attributes.empty() && weights.empty();
    const bool in_vars = object.at("in_vars").as_bool() && !is_bare;
    const std::string group = in_vars ? joined(path, kVars) : path;
    if (!group.empty()) entries.push_back({group, attributes});
    for (const DictEntry& weight : weights)
      entries.push_back({joined(group, weight.key), {}, Codec<Tensor>::decode(weight.value)});
  }
  return entries;
}

}  // namespace crescent::keras
