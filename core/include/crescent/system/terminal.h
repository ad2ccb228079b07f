// The width of the terminal to which stdout writes, and of text on it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// Returns how many columns the terminal that stdout writes to has at this moment, 0 when stdout is
/// no terminal or the width of the terminal is unknown.
CRESCENT_API int64_t terminal_columns();

/// Returns `columns`, or fewer when the terminal of stdout has fewer; never fewer than `least`.
CRESCENT_API int64_t fitting_columns(int64_t columns, int64_t least);

/// Returns how many columns of a terminal a printable UTF-8 text takes: two for a wide character,
/// none for one that combines with the character before it.
CRESCENT_API size_t display_width(std::string_view text);

}  // namespace crescent
