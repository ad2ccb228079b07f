// Weights of recurrent layers of Keras 1, which has an array for each gate ("lstm_1_W_i", ...), as
// if the file had them side by side, in Keras 2's order of gates.
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
  /// Of weight_names those that are joined, by a name of their own.
  std::vector<std::optional<Names>> texts(const Names& groups, const std::string& name) override;
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override {
    return file_.integer(group, name);
  }
  std::optional<Names> members(const std::string& group) override { return file_.members(group); }
  std::vector<TensorSpec> describe(const Names& datasets) override;
  std::vector<DatasetValues> read(const Names& datasets) override;
  bool hold() override { return file_.hold(); }
  void check_held() const override { file_.check_held(); }

 private:
  Names joined(const std::string& group, const Names& weights);
  /// What is in the file for each, one after the other, and how many that are.
  Names parts_of(const Names& datasets, std::vector<size_t>& counts) const;

  WeightSource& file_;
  std::map<std::string, Names> parts_;  ///< of a dataset that is joined
};

}  // namespace crescent::keras
