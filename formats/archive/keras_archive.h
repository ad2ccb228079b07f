// A .keras archive, or a folder with the files of one, as a source of weights for the library
// formats/keras. Weights are in model.weights.h5; config.json and metadata.json contain the texts
// that a plain HDF5 file of Keras stores as attributes of its root group.
#pragma once
#include "crescent/base/value.h"
#include "keras/model/model_file.h"
#include "keras_file.h"

namespace crescent::archive {

inline constexpr const char *kMetadataFile = "metadata.json", *kConfigFile = "config.json",
                            *kAssetFolder = "assets/";

class KerasArchive final : public keras::WeightSource {
 public:
  /// Opens an archive or a folder. Fails if model.weights.h5 is missing or if config.json or
  /// metadata.json is not valid JSON.
  explicit KerasArchive(const std::string& path);

  const std::string& path() const override { return path_; }
  std::optional<std::string> text(const std::string& group, const std::string& name) override;
  using WeightSource::texts;
  std::vector<std::optional<keras::Names>> texts(const keras::Names& groups,
                                                 const std::string& name) override {
    return weights_.texts(groups, name);
  }
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override {
    return weights_.integer(group, name);
  }
  std::optional<keras::Names> members(const std::string& group) override {
    return weights_.members(group);
  }
  std::optional<std::string> asset(const std::string& path) override {
    return member(kAssetFolder + path);
  }
  keras::Names assets(const std::string& folder) override;
  std::vector<TensorSpec> describe(const keras::Names& datasets) override {
    return weights_.describe(datasets);
  }
  std::vector<keras::DatasetValues> read(const keras::Names& datasets) override {
    return weights_.read(datasets);
  }
  bool prevent_changes() override { return weights_.prevent_changes(); }
  void check_unchanged() const override { weights_.check_unchanged(); }
  /// The text of the file `name` of the archive, such as metadata.json; nullopt if there is none.
  std::optional<std::string> member(const std::string& name);

 private:
  std::optional<Dict> json(const std::string& name);
  std::optional<std::string> own_description();

  std::string path_;
  bool is_folder_;
  hdf5::KerasFile weights_;
  std::string config_;
  std::optional<Dict> model_, metadata_;
};

/// Writes the archive with these parts to `path`, or its files to a folder if `path` ends in '/';
/// replaces existing files.
void write_archive(keras::ArchiveParts parts, const std::string& path);

}  // namespace crescent::archive
