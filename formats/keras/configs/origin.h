// Who wrote a file: decides what its configurations mean.
#pragma once
#include <cstdlib>
#include <string>

namespace crescent::keras {

inline constexpr const char* kKerasVersion = "2.3.1";    ///< whose layout we write
inline constexpr const char* kKeras3Version = "3.15.1";  ///< whose archives we write
inline constexpr const char* kBackend = "tensorflow";

struct Origin {
  std::string keras_version;  ///< "2.3.1", "2.15.0", "3.15.1"; "1" when the file does not say
  std::string backend;        ///< "tensorflow", "theano", ...
  bool ours = false;

  int generation() const { return ours ? 3 : std::atoi(keras_version.c_str()); }
  /// Theano's convolutions turn the kernel around; ours, like TensorFlow's, do not.
  bool turned_kernels() const { return backend == "theano"; }
};

}  // namespace crescent::keras
