// Where a format keeps what Keras names: groups with attributes, and datasets, each by a path such
// as "model_weights/dense_1"; "" is the root. A format implements this to be read, and writes what
// entry.h describes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "keras/export.h"

namespace crescent::keras {

using Names = std::vector<std::string>;

/// The numbers of a dataset.
struct DatasetValues {
  Tensor values;
  bool finite = true;    ///< no NaN and no infinity among them
  bool in_file = false;  ///< they lie in the mapped file that hold() keeps as it is
};

class CRESCENT_KERAS_API WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Of the file, for messages.
  virtual const std::string& path() const = 0;

  /// Nothing when the group or the attribute is not there; an attribute of another type fails.
  virtual std::optional<std::string> text(const std::string& group, const std::string& name) = 0;
  /// A list of names, of many groups at once.
  virtual std::vector<std::optional<Names>> texts(const Names& groups, const std::string& name) = 0;
  std::optional<Names> texts(const std::string& group, const std::string& name) {
    return texts(Names{group}, name).front();
  }
  /// Nothing also when it is no integer.
  virtual std::optional<int64_t> integer(const std::string& group, const std::string& name) = 0;
  /// Nothing when the group is not there.
  virtual std::optional<Names> members(const std::string& group) = 0;

  /// A file beside the weights, as Keras' archives have them; nothing where there is none.
  virtual std::optional<std::string> asset(const std::string& /*path*/) { return std::nullopt; }

  /// Type and shape of datasets, without their numbers; one that is missing fails.
  virtual std::vector<TensorSpec> describe(const Names& datasets) = 0;
  /// Their numbers, or an error when one is damaged. Once a source.
  virtual std::vector<DatasetValues> read(const Names& datasets) = 0;

  /// Keeps other programs from changing the file while this object lives, and lets read() leave
  /// numbers where they are: in the mapped file. False where that cannot be had.
  virtual bool hold() { return false; }
  /// Fails when the file was changed or could not be read since hold(), in spite of it.
  virtual void check_held() const {}
};

}  // namespace crescent::keras
