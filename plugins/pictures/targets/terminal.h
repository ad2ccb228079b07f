// What the terminal can show, by what it says and what the environment says of it.
#pragma once
#include "targets/cells.h"

namespace crescent::pictures {

struct Terminal {
  bool kitty = false, sixel = false;
  CellOptions cells;
  int64_t columns = 0, rows = 0;            ///< 0: unknown
  double cell_width = 8, cell_height = 16;  ///< in pixels
};

/// The terminal behind stdout as it is now; with none, one that is as wide as anybody likes and has
/// no colours. It is asked for graphics once a process, and not waited for longer than 20 ms.
Terminal terminal_now();

/// What the answers to "\033[c" and to a question of kitty's protocol say.
bool says_sixel(std::string_view answer);
bool says_kitty(std::string_view answer);

}  // namespace crescent::pictures
