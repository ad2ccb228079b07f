// Converts names between spellings, and measures and cuts text.
#pragma once
#include <string>
#include <string_view>
#include <typeinfo>

#include "crescent/base/export.h"

namespace crescent {

/// Converts ASCII letters to lower case; other characters are unchanged.
CRESCENT_API std::string lower_case(std::string_view text);
/// Converts a class name to snake case as Keras 2 names layers: MaxPooling2D -> max_pooling2d, L1L2
/// -> l1_l2, ReLU -> re_lu.
CRESCENT_API std::string snake_case(std::string_view class_name);

/// The name of a C++ type as source code has it: "std::out_of_range".
std::string demangled_name(const std::type_info& type);

/// Length in bytes of the UTF-8 character at the start of `text`; 0 when it is not valid UTF-8.
CRESCENT_API size_t utf8_length(std::string_view text);

/// Escapes text as printable() does, and also new lines and tabs.
std::string on_one_line(std::string_view text);
/// The number of characters in valid UTF-8.
size_t character_count(std::string_view text);
/// Cuts the text, or pads it with spaces, to this number of characters.
std::string cut_or_padded(std::string_view text, size_t characters);

}  // namespace crescent
