// Recorded cases of the real Keras: an HDF5 file to walk, numbers to compare, and a tally that says
// what was not there. A folder of recorded cases is described in README.md.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crescent/crescent.h"

namespace crescent::golden {

/// The folder named by CRESCENT_GOLDEN; else `golden` in CRESCENT_SHARED, or in `shared` beside the
/// checkout.
std::string folder();
/// Whose cases those are: of the recorded set and of our own few (golden/own) it is known exactly
/// what is there and what cannot be compared yet; of a folder of somebody else nothing is.
enum class Source { recorded, own, other };
Source source();
/// Whether a file or folder is there. One that must be fails the test; another is said to be
/// skipped.
bool there(const std::string& path);
/// Names of the files in a folder that end so, sorted; none when the folder is not there.
std::vector<std::string> files_ending(const std::string& folder, std::string_view ending);
/// Every file of the folder at any depth, sorted; `programs`, whose models need classes of people's
/// own, and `tokenizers` have tests of their own and are left out.
std::vector<std::filesystem::path> files_of_models();

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
  /// The name of a dataset's dtype, or what its attribute `dtype` says it stands for.
  std::string dtype(const std::string& place) const;
  /// Every dataset of a group in order of name.
  Tensors tensors(const std::string& group) const;
  std::string text(const std::string& place, const char* attribute) const;
  std::optional<std::string> text_if_any(const std::string& place, const char* attribute) const;
  Value json(const std::string& place, const char* attribute) const {
    return parse_json(text(place, attribute));
  }

 private:
  int64_t file_;
};

struct Tolerance {
  double relative, absolute;
};
constexpr Tolerance kValues{1e-5, 1e-6};  ///< float32 results
constexpr Tolerance kGradients{1e-4, 1e-6};

/// Nothing when `got` has the shape of `want` and is near it, else where and how far it is off. NaN
/// and each infinity are near themselves alone.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Counts cases, prints "N cases, M compared, K skipped (not there yet): names", and, for a set of
/// ours, fails the test when nothing was compared or other names were skipped than may be.
class Tally {
 public:
  /// `missing`: what is skipped of the recorded set, no more and no less. Of our own cases nothing
  /// is.
  explicit Tally(std::set<std::string> missing = {}) : missing_(std::move(missing)) {}
  void compared() { ++compared_; }
  void skipped(const std::string& name) { ++skipped_, names_.insert(name); }
  void check() const;

 private:
  int compared_ = 0, skipped_ = 0;
  std::set<std::string> missing_, names_;
};

/// Class and config of a layer as Keras wrote them -> the layer, or nothing when a class in it is
/// not registered.
LayerPtr layer_if_known(const std::string& class_name, const Value& config,
                        const std::string& keras_version);
bool known(std::string_view kind, const std::string& class_name);
/// What the constructor got: Keras leaves some options out of `config`, and the recording has them
/// beside it.
Dict options_of(const Recording& file, const std::string& place);

}  // namespace crescent::golden
