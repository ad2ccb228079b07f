// An HDF5 file as formats/keras sees one.
#pragma once
#include <unordered_map>

#include "file_reader.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::hdf5 {

/// Shares the tensors' memory.
Tree tree_of(const keras::Entries& entries);

class KerasFile final : public keras::WeightSource {
 public:
  /// Fails when `path` is no readable HDF5 file, or archive of Keras that holds one.
  explicit KerasFile(const std::string& path) : file_(path) {}

  const std::string& path() const override { return file_.path(); }
  /// Another member of the archive that the file is; nothing when it is none.
  std::optional<std::string> member(const std::string& name) { return file_.member(name); }
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
  bool hold() override { return file_.hold(); }
  void check_held() const override { file_.check_held(); }

 private:
  /// Asks for those that were not described before.
  std::vector<DatasetInfo> infos_of(const keras::Names& datasets);

  FileReader file_;
  std::unordered_map<std::string, DatasetInfo> infos_;  // by dataset
};

}  // namespace crescent::hdf5
