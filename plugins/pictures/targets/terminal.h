// The capabilities of the terminal, from its answers to queries and from environment variables.
#pragma once
#include "targets/cells.h"

namespace crescent::pictures {

struct Terminal {
  bool supports_kitty = false, supports_sixel = false;
  CellOptions cell_options;
  int64_t columns = 0, rows = 0;            ///< numbers of columns and rows in cells; 0 if unknown
  double cell_width = 8, cell_height = 16;  ///< size of a cell in pixels
};

/// The present state of the terminal to which stdout is connected. If stdout is not a terminal, the
/// result has no colours and no limit of the width. Graphics protocols are queried once per
/// process, with a timeout of 20 ms.
Terminal terminal_now();

/// Whether the answer of a terminal, to "\033[c" or to the kitty query, says that it supports sixel
/// or kitty graphics.
bool says_sixel(std::string_view answer);
bool says_kitty(std::string_view answer);

}  // namespace crescent::pictures
