// How tensors are written as text.
#pragma once
#include <cstdint>

#include "crescent/base/export.h"

namespace crescent {

struct PrintOptions {
  int precision = 8;         ///< digits behind the point, at most
  int64_t threshold = 1000;  ///< tensors of more elements are abbreviated
  int64_t width = 0;         ///< columns of a line; 0: those of the terminal, or any number
};

/// The options that to_text(Tensor) follows, in the whole process.
CRESCENT_API PrintOptions print_options();
/// Sets them; fails where a number is negative.
CRESCENT_API void set_print_options(const PrintOptions& options);

}  // namespace crescent
