// The interface through which formats/keras reads a file: groups with attributes, and datasets, by
// paths such as "model_weights/dense_1"; "" is the root. A format implements this interface for
// reading; for writing it takes a list of entries (entry.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "keras/export.h"

namespace crescent::keras {

using Names = std::vector<std::string>;

/// The values of a dataset.
struct DatasetValues {
  Tensor values;
  bool is_finite = true;  ///< whether no value is NaN or infinite
  /// Whether the values are in the mapped file, which prevent_changes() protects against changes.
  bool is_in_file = false;
};

class CRESCENT_KERAS_API WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// The path of the file, for messages.
  virtual const std::string& path() const = 0;

  /// An attribute that is a text; nullopt if the group or the attribute does not exist. Fails if
  /// the attribute has another type.
  virtual std::optional<std::string> text(const std::string& group, const std::string& name) = 0;
  /// The attribute `name` of each of several groups, which is a list of texts; one result per
  /// group.
  virtual std::vector<std::optional<Names>> texts(const Names& groups, const std::string& name) = 0;
  std::optional<Names> texts(const std::string& group, const std::string& name) {
    return texts(Names{group}, name).front();
  }
  /// An attribute that is an integer; nullopt if it does not exist or has another type.
  virtual std::optional<int64_t> integer(const std::string& group, const std::string& name) = 0;
  /// The names of the members of a group; nullopt if it does not exist.
  virtual std::optional<Names> members(const std::string& group) = 0;

  /// The content of the file `path` in an archive of Keras, such as the vocabulary of a layer;
  /// nullopt if there is no such file.
  virtual std::optional<std::string> asset(const std::string& /*path*/) { return std::nullopt; }

  /// The paths of the files that an archive of Keras has in this folder of its assets and in the
  /// folders below, relative to it; an archive may contain paths that lead out of the folder.
  virtual Names assets(const std::string& /*folder*/) { return {}; }

  /// The types and shapes of datasets, without reading values; fails for a missing dataset.
  virtual std::vector<TensorSpec> describe(const Names& datasets) = 0;
  /// Reads the values of datasets; fails if one is damaged. May be called only once.
  virtual std::vector<DatasetValues> read(const Names& datasets) = 0;

  /// Prevents other programs from changing the file during the lifetime of this object, so that
  /// read() can return values in the mapped file. Returns false if that is not possible.
  virtual bool prevent_changes() { return false; }
  /// Fails if the file was changed in spite of prevent_changes(), or could not be read.
  virtual void check_unchanged() const {}
};

}  // namespace crescent::keras
