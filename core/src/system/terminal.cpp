#include "crescent/system/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace crescent {

int64_t terminal_columns() {
  winsize size{};
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int64_t fitting_columns(int64_t columns, int64_t least) {
  const int64_t there = terminal_columns();
  return there > 0 ? std::clamp(there, std::min(least, columns), columns) : columns;
}

}  // namespace crescent
