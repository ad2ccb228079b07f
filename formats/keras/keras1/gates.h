// Reads weights of recurrent layers of Keras 1, which stores an array per gate ("lstm_1_W_i", ...),
// as if they were concatenated in the order of gates of Keras 2.
#pragma once
#include <map>

#include "keras/source/weight_source.h"

namespace crescent::keras {

class JoinedGates final : public WeightSource {
 public:
  explicit JoinedGates(WeightSource& file) : file_(file) {}

  const std::string& path() const override { return file_.path(); }
  std::optional<std::string> text(const std::string& group, const std::string& name) override {
    return file_.text(group, name);
  }
  using WeightSource::texts;
  /// The weight_names of layers, in which the names of arrays of single gates are replaced by a
  /// name for the concatenated array.
  std::vector<std::optional<Names>> texts(const Names& groups, const std::string& name) override;
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override {
    return file_.integer(group, name);
  }
  std::optional<Names> members(const std::string& group) override { return file_.members(group); }
  std::vector<TensorSpec> describe(const Names& datasets) override;
  std::vector<DatasetValues> read(const Names& datasets) override;
  bool prevent_changes() override { return file_.prevent_changes(); }
  void check_unchanged() const override { file_.check_unchanged(); }

 private:
  Names join_gates(const std::string& group, const Names& weights);
  /// The datasets in the file from which the arrays `datasets` are made, one after another: several
  /// for an array that is concatenated. `part_counts` receives their number for each array.
  Names parts_of(const Names& datasets, std::vector<size_t>& part_counts) const;

  WeightSource& file_;
  /// For the name of each concatenated array, the datasets that are its parts.
  std::map<std::string, Names> parts_by_name_;
};

}  // namespace crescent::keras
