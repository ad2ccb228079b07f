// How tensors are written as text.
#pragma once
#include <cstdint>

#include "crescent/base/export.h"

namespace crescent {

struct PrintOptions {
  int precision = 8;         ///< maximum number of decimal digits after the point
  int64_t threshold = 1000;  ///< tensors of more elements are abbreviated
  int64_t width = 0;  ///< columns of a line; 0: the width of the terminal, or unlimited without one
};

/// The options that to_text(Tensor) uses in the whole process.
CRESCENT_API PrintOptions print_options();
/// Sets the options; fails for negative numbers.
CRESCENT_API void set_print_options(const PrintOptions& options);

}  // namespace crescent
