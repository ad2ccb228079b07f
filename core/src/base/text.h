// Spelling of names.
#pragma once
#include <string>
#include <string_view>

#include "crescent/export.h"

namespace crescent {

/// ASCII letters only.
CRESCENT_API std::string lower_case(std::string_view text);
/// As Keras 2 names layers: MaxPooling2D -> max_pooling2d, L1L2 -> l1_l2, ReLU -> re_lu.
CRESCENT_API std::string snake_case(std::string_view class_name);

/// Length in bytes of the UTF-8 character at the start of `text`; 0 when it is not valid UTF-8.
CRESCENT_API size_t utf8_length(std::string_view text);

}  // namespace crescent
