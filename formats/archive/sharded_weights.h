// Weights in several HDF5 files ("shards") of limited size. As in Keras 3, a .weights.json file
// maps each group to its shard: {"metadata": {"total_size"}, "weight_map": {"/layers/dense/vars":
// "m_00000.weights.h5"}}, or to a list of shards if the arrays of the group are in several.
#pragma once
#include <map>
#include <memory>

#include "keras/source/entry.h"
#include "keras_file.h"

namespace crescent::archive {

class ShardedWeights final : public keras::WeightSource {
 public:
  /// Opens a .weights.json; fails if it names a file in another folder.
  explicit ShardedWeights(const std::string& path);

  const std::string& path() const override { return path_; }
  std::optional<std::string> text(const std::string& group, const std::string& name) override;
  using WeightSource::texts;
  std::vector<std::optional<keras::Names>> texts(const keras::Names& groups,
                                                 const std::string&) override {
    return std::vector<std::optional<keras::Names>>(groups.size());
  }
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override;
  std::optional<keras::Names> members(const std::string& group) override;
  std::vector<TensorSpec> describe(const keras::Names& datasets) override;
  std::vector<keras::DatasetValues> read(const keras::Names& datasets) override;

 private:
  hdf5::KerasFile& shard(const std::string& name);
  /// The name of the shard (file) that contains this dataset.
  const std::string& shard_of(const std::string& dataset);

  std::string path_;
  std::map<std::string, keras::Names> files_;  // the names of the shards that contain each group
  std::map<std::string, std::unique_ptr<hdf5::KerasFile>> open_shards_;
  // the shard that contains each dataset, for groups that are in several shards
  std::map<std::string, std::string> shard_of_dataset_;
};

/// Writes shards of at most `max_shard_bytes` bytes; a larger array gets a shard of its own. Files
/// that exist stay intact until the new .weights.json replaces the old one.
void write_shards(const keras::Entries& entries, const std::string& path, uint64_t max_shard_bytes);

}  // namespace crescent::archive
