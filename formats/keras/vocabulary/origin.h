// Who wrote a file: decides what its configurations mean.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

namespace crescent::keras {

/// Whose meanings a file for this target has.
inline const char* keras_version_of(const std::string& target) {
  return target == "keras2" ? "2.3.1" : "3.15.1";
}
inline constexpr const char* kBackend = "tensorflow";

struct Origin {
  std::string keras_version;  ///< "2.3.1", "2.15.0", "3.15.1"; "1" when the file does not say
  std::string backend;        ///< "tensorflow", "theano", ...
  bool ours = false;

  int generation() const { return ours ? 3 : std::atoi(keras_version.c_str()); }
  /// Keras up to 2.3.1, which was no part of TensorFlow ("2.2.4-tf", 2.4 and later are).
  bool before_tensorflow() const {
    if (ours || in_tensorflow_1()) return false;
    return generation() < 2 || (generation() == 2 && minor() < 4);
  }
  /// Keras 2.3 and tf.keras up to 2.10 take masks for weights of the loss, and divide by the number
  /// of all elements; those before and after divide by the number of those that count.
  bool masks_are_weights() const {
    return generation() == 2 && (in_tensorflow_1() || (minor() >= 3 && minor() <= 10));
  }
  /// Keras up to 2.3.1 and tf.keras up to 2.1 pick "accuracy" by the loss, those after by shapes.
  bool accuracy_by_loss() const {
    return before_tensorflow() || (!ours && in_tensorflow_1() && minor() < 3);
  }
  /// Keras from 2.1.4 to 2.3.1 divides a moving variance's sum of squares by less than the number.
  bool corrects_variance() const {
    if (!before_tensorflow() || generation() < 2) return false;
    return minor() > 1 || (minor() == 1 && part(2) >= 4);
  }
  /// Keras before 2.0.6 trained weights in the order of their names, not of their layers.
  bool sorts_trained_by_name() const {
    int major = 1, minor = 0, patch = 0;
    std::sscanf(keras_version.c_str(), "%d.%d.%d", &major, &minor, &patch);
    return before_tensorflow() && std::tie(major, minor, patch) < std::tuple(2, 0, 6);
  }
  /// Theano's convolutions turn the kernel around; ours, like TensorFlow's, do not.
  bool turned_kernels() const { return backend == "theano"; }

 private:
  bool in_tensorflow_1() const { return keras_version.ends_with("-tf"); }
  int minor() const { return part(1); }
  /// The number after so many dots; 0 when there is none.
  int part(int dots) const {
    size_t place = 0;
    for (; dots > 0 && place != std::string::npos; --dots) {
      place = keras_version.find('.', place);
      if (place != std::string::npos) ++place;
    }
    return place == std::string::npos ? 0 : std::atoi(keras_version.c_str() + place);
  }
};

}  // namespace crescent::keras
