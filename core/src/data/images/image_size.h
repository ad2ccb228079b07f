// Checks the size of an image that a function is asked to make.
#pragma once
#include "crescent/data/images.h"

namespace crescent {

inline void check_image_size(ImageSize size) {
  if (size.height < 1 || size.width < 1)
    fail("expected a size of at least (1, 1), got (", size.height, ", ", size.width, ")");
}

}  // namespace crescent
