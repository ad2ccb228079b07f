// The version of Keras that a file has, which determines the meaning of its configurations.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

namespace crescent::keras {

/// The version of Keras that a file for this generation ("keras2" or "keras3") claims as its
/// writer, which determines the meaning of the file.
inline const char* keras_version_of(const std::string& target_generation) {
  return target_generation == "keras2" ? "2.3.1" : "3.15.1";
}
inline constexpr const char* kBackend = "tensorflow";

/// The program and version that wrote a file.
struct Origin {
  std::string keras_version;  ///< "2.3.1", "2.15.0", "3.15.1"; "1" if the file has no version
  std::string backend;        ///< "tensorflow", "theano", ...
  bool is_written_by_crescent = false;

  int generation() const { return is_written_by_crescent ? 3 : std::atoi(keras_version.c_str()); }
  /// Whether the writer is a version of Keras up to 2.3.1. Later versions, and versions such as
  /// "2.2.4-tf", are a part of TensorFlow.
  bool is_before_tensorflow() const {
    if (is_written_by_crescent || has_tf_suffix()) return false;
    return generation() < 2 || (generation() == 2 && minor() < 4);
  }
  /// Whether masks are used as weights of the loss, so that the loss is divided by the number of
  /// all elements, as in Keras 2.3 and tf.keras up to 2.10. Earlier and later versions divide by
  /// the number of elements that are not masked.
  bool masks_are_weights() const {
    return generation() == 2 && (has_tf_suffix() || (minor() >= 3 && minor() <= 10));
  }
  /// Whether the loss determines which metric "accuracy" stands for, as in Keras up to 2.3.1 and
  /// tf.keras up to 2.1. In later versions the shape of the output determines it.
  bool chooses_accuracy_by_loss() const {
    return is_before_tensorflow() || (!is_written_by_crescent && has_tf_suffix() && minor() < 3);
  }
  /// Whether the moving variance is a sum of squared deviations that is divided by less than the
  /// number of values (similar to Bessel's correction), as in Keras 2.1.4 to 2.3.1.
  bool corrects_variance() const {
    if (!is_before_tensorflow() || generation() < 2) return false;
    return minor() > 1 || (minor() == 1 && part(2) >= 4);
  }
  /// Whether the trained weights are ordered by name, and not by layer, as in Keras before 2.0.6.
  bool sorts_trained_by_name() const {
    int major = 1, minor = 0, patch = 0;
    std::sscanf(keras_version.c_str(), "%d.%d.%d", &major, &minor, &patch);
    return is_before_tensorflow() && std::tie(major, minor, patch) < std::tuple(2, 0, 6);
  }
  /// Whether kernels of convolutions in the file are flipped: Theano computes true convolutions,
  /// TensorFlow and Crescent cross-correlations.
  bool has_flipped_kernels() const { return backend == "theano"; }

 private:
  /// Whether the version is one such as "2.2.4-tf", as in tf.keras up to TensorFlow 2.2.
  bool has_tf_suffix() const { return keras_version.ends_with("-tf"); }
  int minor() const { return part(1); }
  /// The number that follows the first `dot_count` dots in the version; 0 if there is none.
  int part(int dot_count) const {
    size_t start = 0;
    for (; dot_count > 0 && start != std::string::npos; --dot_count) {
      start = keras_version.find('.', start);
      if (start != std::string::npos) ++start;
    }
    return start == std::string::npos ? 0 : std::atoi(keras_version.c_str() + start);
  }
};

}  // namespace crescent::keras
