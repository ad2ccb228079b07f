// Cases recorded from Keras: reading HDF5 files, comparing numbers, and counting skipped cases.
// README.md describes the folders of recorded cases.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crescent/crescent.h"

namespace crescent::golden {

/// The folder of recorded cases: the one named by CRESCENT_GOLDEN, else `golden` in
/// CRESCENT_SHARED, or in `shared` beside the checkout.
std::string folder();
/// The origin of the recorded cases. For the sets `recorded` and `own` (golden/own), tests know
/// exactly which files exist and which cannot be compared; for another folder they do not.
enum class Source { recorded, own, other };
Source source();
/// Whether a file or folder exists. In the sets `recorded` and `own`, a missing file fails the
/// test; in other folders it is reported as skipped.
bool is_there(const std::string& path);
/// The names of the files with this ending in a folder, sorted; none if there is no such folder.
std::vector<std::string> files_ending(const std::string& folder, std::string_view ending);
/// All files of the folder at any depth, sorted, without `programs`, whose models need custom
/// classes, and `tokenizers`: these have tests of their own.
std::vector<std::filesystem::path> files_of_models();

/// One file, open for reading. Paths inside it are "group/dataset".
class Recording {
 public:
  explicit Recording(const std::string& path);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool has(const std::string& path_in_file) const;
  /// The members of a group, sorted; empty if there is no such group.
  std::vector<std::string> names(const std::string& group) const;
  Tensor tensor(const std::string& path_in_file) const;
  /// The dtype of a dataset; if the dataset has an attribute `dtype`, the one that it names.
  std::string dtype(const std::string& path_in_file) const;
  /// Every dataset of a group, in the order of names.
  Tensors tensors(const std::string& group) const;
  std::string text(const std::string& path_in_file, const char* attribute) const;
  std::optional<std::string> text_if_any(const std::string& path_in_file,
                                         const char* attribute) const;
  Value json(const std::string& path_in_file, const char* attribute) const {
    return parse_json(text(path_in_file, attribute));
  }

 private:
  int64_t file_;
};

struct Tolerance {
  double relative, absolute;
};
constexpr Tolerance kValues{1e-5, 1e-6};  ///< the tolerance for float32 results
constexpr Tolerance kGradients{1e-4, 1e-6};

/// Returns an empty string if `got` has the shape of `want` and is close to it; otherwise a text
/// that says where and by how much it differs. NaN and infinities are close only to themselves.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Counts cases and prints "N cases, M compared, K skipped (not there yet): names". For the sets
/// `recorded` and `own` it fails if nothing was compared or if the skipped names are not the
/// expected ones.
class Tally {
 public:
  /// `missing` has the names of exactly those cases of the set `recorded` that are skipped. No case
  /// of the set `own` may be skipped.
  explicit Tally(std::set<std::string> missing = {}) : missing_(std::move(missing)) {}
  void count_compared() { ++compared_; }
  void count_skipped(const std::string& name) { ++skipped_, names_.insert(name); }
  void check() const;

 private:
  int compared_ = 0, skipped_ = 0;
  std::set<std::string> missing_, names_;
};

/// Makes the layer from its class and configuration in Keras; returns null if one of the classes is
/// not registered.
LayerPtr layer_if_known(const std::string& class_name, const Value& config,
                        const std::string& keras_version);
bool is_registered(std::string_view kind, const std::string& class_name);
/// The options of a recorded layer: those of `config`, and those that Keras does not write there
/// and the recording stores beside it.
Dict options_of(const Recording& file, const std::string& path_in_file);

}  // namespace crescent::golden
