// The width of the terminal to which stdout writes.
#pragma once
#include <cstdint>

#include "crescent/base/export.h"

namespace crescent {

/// Returns how many columns the terminal that stdout writes to has at this moment, 0 when stdout is
/// no terminal or the terminal does not tell.
CRESCENT_API int64_t terminal_columns();

/// Returns `columns`, or fewer when the terminal of stdout has fewer; never fewer than `least`.
CRESCENT_API int64_t fitting_columns(int64_t columns, int64_t least);

}  // namespace crescent
