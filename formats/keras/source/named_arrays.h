// Arrays by name, and nothing else, as formats/keras sees a file: how weights come from formats
// that are not Keras'.
#pragma once
#include <functional>

#include "keras/export.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

struct NamedArray {
  std::string name;
  TensorSpec spec;
  std::function<Tensor()> read;  ///< in memory, or staying in the file
};

class CRESCENT_KERAS_API NamedArrays final : public WeightSource {
 public:
  /// Fails when two have the same name.
  NamedArrays(std::string path, std::vector<NamedArray> arrays);

  const std::string& path() const override { return path_; }
  std::optional<std::string> text(const std::string&, const std::string&) override { return {}; }
  using WeightSource::texts;
  std::vector<std::optional<Names>> texts(const Names& groups, const std::string&) override {
    return std::vector<std::optional<Names>>(groups.size());
  }
  std::optional<int64_t> integer(const std::string&, const std::string&) override { return {}; }
  /// Of the root alone: all names, in the order of the file.
  std::optional<Names> members(const std::string& group) override;
  std::vector<TensorSpec> describe(const Names& arrays) override;
  std::vector<DatasetValues> read(const Names& arrays) override;

  /// Fails when there is none of this name; "" is the only one.
  const NamedArray& find(const std::string& name) const;

 private:
  std::string path_;
  std::vector<NamedArray> arrays_;
};

}  // namespace crescent::keras
