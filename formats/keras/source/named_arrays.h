// A file of named arrays as a source of weights for formats/keras. It serves formats that are not
// from Keras.
#pragma once
#include <functional>

#include "keras/export.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

struct NamedArray {
  std::string name;
  TensorSpec spec;
  /// Reads the array to memory, or makes a tensor whose values stay in the file.
  std::function<Tensor()> read;
};

class CRESCENT_KERAS_API NamedArrays final : public WeightSource {
 public:
  /// Fails if two arrays have the same name.
  NamedArrays(std::string path, std::vector<NamedArray> arrays);

  const std::string& path() const override { return path_; }
  std::optional<std::string> text(const std::string&, const std::string&) override { return {}; }
  using WeightSource::texts;
  std::vector<std::optional<Names>> texts(const Names& groups, const std::string&) override {
    return std::vector<std::optional<Names>>(groups.size());
  }
  std::optional<int64_t> integer(const std::string&, const std::string&) override { return {}; }
  /// The names of all arrays in the order of the file if `group` is the root; there are no other
  /// groups.
  std::optional<Names> members(const std::string& group) override;
  std::vector<TensorSpec> describe(const Names& arrays) override;
  std::vector<DatasetValues> read(const Names& arrays) override;

  /// The array of this name; with "", the only array of the file. Fails if there is no such array.
  const NamedArray& find(const std::string& name) const;

 private:
  std::string path_;
  std::vector<NamedArray> arrays_;
};

}  // namespace crescent::keras
