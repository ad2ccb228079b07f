// Recorded cases of the real Keras: an HDF5 file to walk, numbers to compare, and a tally that says what was not there.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/crescent.h"

namespace crescent::golden {

/// The folder named by CRESCENT_GOLDEN; else `golden` in CRESCENT_SHARED, or in `shared` beside the checkout.
std::string folder();
/// Names of the files in a folder that end so, sorted; none when the folder is not there.
std::vector<std::string> files_ending(const std::string& folder, std::string_view ending);

/// One file, open for reading. Paths inside it are "group/dataset".
class Recording {
 public:
  explicit Recording(const std::string& path);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool has(const std::string& place) const;
  /// Members of a group, sorted; none when the group is not there.
  std::vector<std::string> names(const std::string& group) const;
  Tensor tensor(const std::string& place) const;
  /// Every dataset of a group in order of name.
  Tensors tensors(const std::string& group) const;
  std::string text(const std::string& place, const char* attribute) const;
  std::optional<std::string> text_if_any(const std::string& place, const char* attribute) const;
  Value json(const std::string& place, const char* attribute) const { return parse_json(text(place, attribute)); }

 private:
  int64_t file_;
};

struct Tolerance {
  double relative, absolute;
};
constexpr Tolerance kValues{1e-5, 1e-6};       ///< float32 results
constexpr Tolerance kGradients{1e-4, 1e-6};

/// Nothing when `got` is near `want`, else where and how far it is off.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Counts cases and prints "N cases, M compared, K skipped (class not there): names" at the end.
class Tally {
 public:
  ~Tally();
  void compared() { ++cases_, ++compared_; }
  void skipped(const std::string& class_name);

 private:
  int cases_ = 0, compared_ = 0, skipped_ = 0;
  std::vector<std::string> missing_;
};

/// Class and config of a layer as Keras wrote them -> the layer, or nothing when a class in it is not registered.
LayerPtr layer_if_known(const std::string& class_name, const Value& config, const std::string& keras_version);
bool known(std::string_view kind, const std::string& class_name);

}  // namespace crescent::golden
