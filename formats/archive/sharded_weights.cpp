#include "sharded_weights.h"

#include <filesystem>
#include <set>

#include "crescent/system/file.h"
#include "image.h"

namespace crescent::archive {
namespace {

namespace fs = std::filesystem;

constexpr const char *kIndexEnding = ".weights.json", *kShardEnding = ".weights.h5";

std::string folder_of(const std::string& path) {
  const size_t slash_position = path.rfind('/');
  return slash_position == path.npos ? "" : path.substr(0, slash_position + 1);
}

std::string parent_group_of(const std::string& dataset) {
  return dataset.substr(0, std::min(dataset.rfind('/'), dataset.size()));
}

keras::Names shard_names_in(const std::string& path, const Value& value) {
  keras::Names names;
  const List single_name{value};
  for (const Value& name : value.is_list() ? value.as_list() : single_name) {
    const bool is_plain_name = name.is_string() &&
                               name.as_string().find('/') == std::string::npos &&
                               name.as_string().ends_with(kShardEnding);
    if (!is_plain_name)
      fail("'", path, "': expected the name of a file beside it that ends in ", kShardEnding,
           ", got ", name, "; nothing was loaded");
    names.push_back(name.as_string());
  }
  return names;
}

Value read_json(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return parse_json(text);
  } catch (Error& error) {
    error.add_context(concat("'", path, "': "));
    throw;
  }
}

/// Reads a .weights.json; returns, by group, the names of the files that contain the group.
std::map<std::string, keras::Names> weight_map(const std::string& path) {
  const Value index = read_json(path);
  const Value* map = index.is_dict() ? index.as_dict().find("weight_map") : nullptr;
  if (!map || !map->is_dict()) fail("'", path, "' has no weight_map; nothing was loaded");
  std::map<std::string, keras::Names> files;
  for (const DictEntry& entry : map->as_dict()) {
    const size_t begin = entry.key.find_first_not_of('/');
    const std::string group = begin == entry.key.npos ? "" : entry.key.substr(begin);
    files[group] = shard_names_in(path, entry.value);
  }
  return files;
}

}  // namespace

ShardedWeights::ShardedWeights(const std::string& path) : path_(path), files_(weight_map(path)) {}

hdf5::KerasFile& ShardedWeights::shard(const std::string& name) {
  auto& file = open_shards_[name];
  if (!file) file = std::make_unique<hdf5::KerasFile>(folder_of(path_) + name);
  return *file;
}

std::optional<std::string> ShardedWeights::text(const std::string& group, const std::string& name) {
  const auto files = files_.find(group);
  return files == files_.end() ? std::nullopt : shard(files->second.front()).text(group, name);
}

std::optional<int64_t> ShardedWeights::integer(const std::string& group, const std::string& name) {
  const auto files = files_.find(group);
  return files == files_.end() ? std::nullopt : shard(files->second.front()).integer(group, name);
}

/// The names of the datasets in a group, collected from all files that contain the group. For a
/// group that only contains other groups, returns the names of these groups.
std::optional<keras::Names> ShardedWeights::members(const std::string& group) {
  std::set<std::string> names;
  if (const auto files = files_.find(group); files != files_.end()) {
    for (const std::string& file : files->second)
      for (const std::string& name : shard(file).members(group).value_or(keras::Names{})) {
        if (!names.insert(name).second)
          fail("'", path_, "': '/", group, "/", name, "' is in two files; nothing was loaded");
        shard_of_dataset_[group + "/" + name] = file;
      }
    return keras::Names(names.begin(), names.end());
  }
  const std::string prefix = group.empty() ? "" : group + "/";
  for (const auto& [path, files] : files_)
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  if (names.empty()) return std::nullopt;
  return keras::Names(names.begin(), names.end());
}

const std::string& ShardedWeights::shard_of(const std::string& dataset) {
  const std::string group = parent_group_of(dataset);
  const auto files = files_.find(group);
  if (files != files_.end() && files->second.size() == 1) return files->second.front();
  if (files != files_.end() && !shard_of_dataset_.contains(dataset)) members(group);
  const auto found_shard = shard_of_dataset_.find(dataset);
  if (found_shard == shard_of_dataset_.end())
    fail("'", path_, "': there is no dataset '/", dataset, "'; nothing was loaded");
  return found_shard->second;
}

std::vector<TensorSpec> ShardedWeights::describe(const keras::Names& datasets) {
  std::vector<TensorSpec> specs;
  for (const std::string& dataset : datasets)
    specs.push_back(shard(shard_of(dataset)).describe({dataset}).front());
  return specs;
}

/// Reads one file after another; the results are in the order of `datasets`.
std::vector<keras::DatasetValues> ShardedWeights::read(const keras::Names& datasets) {
  std::map<std::string, std::vector<size_t>> indices_by_file;
  for (size_t i = 0; i < datasets.size(); ++i) indices_by_file[shard_of(datasets[i])].push_back(i);
  std::vector<keras::DatasetValues> values(datasets.size());
  for (const auto& [file, indices] : indices_by_file) {
    keras::Names names;
    for (size_t i : indices) names.push_back(datasets[i]);
    std::vector<keras::DatasetValues> shard_values = shard(file).read(names);
    for (size_t k = 0; k < indices.size(); ++k) values[indices[k]] = std::move(shard_values[k]);
  }
  return values;
}

namespace {

/// The assignment of entries to shards. A group whose arrays are in several shards is written to
/// each of these shards.
struct ShardAssignment {
  std::vector<keras::Entries> shards{1};
  // for each group, the indices of the shards with its arrays
  std::map<std::string, std::vector<size_t>> shards_of;
  uint64_t total_bytes = 0;
};

ShardAssignment assign_shards(const keras::Entries& entries, uint64_t max_shard_bytes) {
  ShardAssignment assignment;
  uint64_t shard_bytes = 0;
  const keras::Entry* group = nullptr;
  for (const keras::Entry& entry : entries) {
    const uint64_t size = entry.value ? entry.value.bytes() : 0;
    if (shard_bytes > 0 && shard_bytes + size > max_shard_bytes)
      assignment.shards.emplace_back(), shard_bytes = 0;
    if (!entry.value) group = &entry;
    auto& group_shards = assignment.shards_of[group->path];
    const size_t last_shard = assignment.shards.size() - 1;
    if (group_shards.empty() || group_shards.back() != last_shard) {
      group_shards.push_back(last_shard);
      assignment.shards[last_shard].push_back(*group);
    }
    if (entry.value) assignment.shards[last_shard].push_back(entry);
    shard_bytes += size, assignment.total_bytes += size;
  }
  return assignment;
}

/// The names of the files that the .weights.json at this path lists; empty if the file does not
/// exist or has another form.
std::set<std::string> listed_shards(const std::string& path) {
  std::set<std::string> names;
  try {
    for (const auto& [group, files] : weight_map(path)) names.insert(files.begin(), files.end());
  } catch (const Error&) {
  }
  return names;
}

/// The names of the shards to write: "m_00000.weights.h5", ... If the existing .weights.json
/// already uses one of these names, the shards are named "m-b_00000.weights.h5", ...
keras::Names shard_names(const std::string& path, size_t count,
                         const std::set<std::string>& names_in_use) {
  const size_t begin = folder_of(path).size();
  const std::string stem =
      path.substr(begin, path.size() - begin - std::string(kIndexEnding).size());
  for (const std::string& base : {stem, stem + "-b"}) {
    keras::Names names;
    bool is_unused = true;
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      names.push_back(concat(base, "_", std::string(5 - std::min<size_t>(5, number.size()), '0'),
                             number, kShardEnding));
      is_unused = is_unused && !names_in_use.contains(names.back());
    }
    if (is_unused) return names;
  }
  fail("cannot save '", path, "': the names of its parts are all in use");
}

}  // namespace

void write_shards(const keras::Entries& entries, const std::string& path,
                  uint64_t max_shard_bytes) {
  const ShardAssignment assignment = assign_shards(entries, max_shard_bytes);
  const std::set<std::string> old_names = listed_shards(path);
  const keras::Names names = shard_names(path, assignment.shards.size(), old_names);
  for (size_t i = 0; i < names.size(); ++i)
    replace_file(folder_of(path) + names[i],
                 hdf5::FileImage(hdf5::tree_of(assignment.shards[i])).pieces());
  Dict map;
  for (const auto& [group, shards] : assignment.shards_of) {
    List files;
    for (size_t i : shards) files.push_back(names[i]);
    map.set("/" + group, files.size() == 1 ? Value(files.front()) : Value(files));
  }
  replace_file(
      path,
      to_json(Dict{{"metadata", Dict{{"total_size", static_cast<int64_t>(assignment.total_bytes)}}},
                   {"weight_map", std::move(map)}}));
  for (const std::string& name : old_names) {
    // The error is ignored: an old shard that cannot be deleted is merely unused.
    std::error_code ignored_error;
    fs::remove(folder_of(path) + name, ignored_error);
  }
}

}  // namespace crescent::archive
