// An HDF5 file as a source of weights for the library formats/keras.
#pragma once
#include <unordered_map>

#include "file_reader.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::hdf5 {

/// Converts entries to the tree of an HDF5 file, which shares the memory of the tensors.
Tree tree_of(const keras::Entries& entries);

class KerasFile final : public keras::WeightSource {
 public:
  /// Opens a file; fails unless it is a readable HDF5 file or a Keras archive that contains one.
  explicit KerasFile(const std::string& path) : file_(path) {}

  const std::string& path() const override { return file_.path(); }
  /// The text of the member `name` of the archive, such as config.json; nullopt if there is none or
  /// the file is not an archive.
  std::optional<std::string> member(const std::string& name) { return file_.member(name); }
  /// The names of the members of the archive that begin with `prefix`; none if the file is not an
  /// archive.
  keras::Names member_names(const std::string& prefix) { return file_.member_names(prefix); }
  std::optional<std::string> text(const std::string& group, const std::string& name) override {
    return file_.text(group, name);
  }
  using WeightSource::texts;
  std::vector<std::optional<keras::Names>> texts(const keras::Names& groups,
                                                 const std::string& name) override {
    return file_.texts(groups, name);
  }
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override;
  std::optional<keras::Names> members(const std::string& group) override {
    return file_.members(group);
  }
  std::vector<TensorSpec> describe(const keras::Names& datasets) override;
  std::vector<keras::DatasetValues> read(const keras::Names& datasets) override;
  bool prevent_changes() override { return file_.prevent_changes(); }
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  /// The types and shapes of datasets. The reader is only asked for those that are not in infos_.
  std::vector<DatasetInfo> infos_of(const keras::Names& datasets);

  FileReader file_;
  // the results of infos_of() by the path of the dataset
  std::unordered_map<std::string, DatasetInfo> infos_;
};

}  // namespace crescent::hdf5
