// Spelling of names.
#pragma once
#include <string>
#include <string_view>
#include <typeinfo>

#include "crescent/base/export.h"

namespace crescent {

/// ASCII letters only.
CRESCENT_API std::string lower_case(std::string_view text);
/// As Keras 2 names layers: MaxPooling2D -> max_pooling2d, L1L2 -> l1_l2, ReLU -> re_lu.
CRESCENT_API std::string snake_case(std::string_view class_name);

/// A C++ type as it is written: "std::out_of_range".
std::string written_name(const std::type_info& type);

/// Length in bytes of the UTF-8 character at the start of `text`; 0 when it is not valid UTF-8.
CRESCENT_API size_t utf8_length(std::string_view text);

/// As printable(), with new lines and tabs written out too.
std::string on_one_line(std::string_view text);
/// How many characters a text of valid UTF-8 has.
size_t characters_in(std::string_view text);
/// Such a text cut, or filled with spaces, to so many characters.
std::string fitted(std::string_view text, size_t characters);

}  // namespace crescent
