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

/// The folder named by CRESCENT_GOLDEN; else `golden` in CRESCENT_SHARED, or in `shared` beside the
/// checkout.
std::string folder();
/// The origin of the cases. For the recorded set and our own few cases (golden/own) the files and
/// the cases that cannot be compared yet are known exactly; for other folders they are not.
enum class Source { recorded, own, other };
Source source();
/// Whether a file or folder exists. If it must, its absence fails the test; otherwise the test
/// prints that it is skipped.
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
  /// The dtype of a dataset, or that of its attribute `dtype` if it has one.
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

/// Empty if `got` has the shape of `want` and is within the tolerance, else a description of the
/// difference. NaN and each infinity equal only themselves.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Counts cases and prints "N cases, M compared, K skipped (not there yet): names". For our own
/// sets, fails the test if nothing was compared or other names were skipped than allowed.
class Tally {
 public:
  /// `missing`: exactly the cases of the recorded set that are skipped. No case of our own set is
  /// skipped.
  explicit Tally(std::set<std::string> missing = {}) : missing_(std::move(missing)) {}
  void compared() { ++compared_; }
  void skipped(const std::string& name) { ++skipped_, names_.insert(name); }
  void check() const;

 private:
  int compared_ = 0, skipped_ = 0;
  std::set<std::string> missing_, names_;
};

/// Makes the layer from its class and configuration in Keras; null if a class in it is not
/// registered.
LayerPtr layer_if_known(const std::string& class_name, const Value& config,
                        const std::string& keras_version);
bool known(std::string_view kind, const std::string& class_name);
/// The arguments of the constructor: those in `config` and those that Keras omits there and the
/// recording stores separately.
Dict options_of(const Recording& file, const std::string& place);

}  // namespace crescent::golden
