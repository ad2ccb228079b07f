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
    if (ours || keras_version.ends_with("-tf")) return false;
    const size_t dot = keras_version.find('.');
    const int minor = dot == std::string::npos ? 0 : std::atoi(keras_version.c_str() + dot + 1);
    return generation() < 2 || (generation() == 2 && minor < 4);
  }
  /// Keras before 2.0.6 trained weights in the order of their names, not of their layers.
  bool sorts_trained_by_name() const {
    int major = 1, minor = 0, patch = 0;
    std::sscanf(keras_version.c_str(), "%d.%d.%d", &major, &minor, &patch);
    return before_tensorflow() && std::tie(major, minor, patch) < std::tuple(2, 0, 6);
  }
  /// Theano's convolutions turn the kernel around; ours, like TensorFlow's, do not.
  bool turned_kernels() const { return backend == "theano"; }
};

}  // namespace crescent::keras
