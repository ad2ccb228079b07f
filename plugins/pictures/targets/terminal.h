// The capabilities of the terminal, from its answers to queries and from environment variables.
#pragma once
#include "targets/cells.h"

namespace crescent::pictures {

struct Terminal {
  bool kitty = false, sixel = false;
  CellOptions cells;
  int64_t columns = 0, rows = 0;            ///< 0: unknown
  double cell_width = 8, cell_height = 16;  ///< in pixels
};

/// The current state of the terminal of stdout; if stdout is no terminal, one without colours and
/// with unlimited width. Its graphics protocols are queried once per process, with a timeout of 20
/// ms.
Terminal terminal_now();

/// Whether the answers to "\033[c" and to the kitty query report sixel and kitty graphics.
bool says_sixel(std::string_view answer);
bool says_kitty(std::string_view answer);

}  // namespace crescent::pictures
