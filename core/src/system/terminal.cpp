#include "crescent/system/terminal.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cwchar>

namespace crescent {

int64_t terminal_columns() {
  winsize size{};
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int64_t fitting_columns(int64_t columns, int64_t least) {
  const int64_t terminal_width = terminal_columns();
  return terminal_width > 0 ? std::clamp(terminal_width, std::min(least, columns), columns)
                            : columns;
}

size_t display_width(std::string_view text) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t old_locale = uselocale(utf8 ? utf8 : LC_GLOBAL_LOCALE);
  size_t width = 0;
  while (!text.empty()) {
    wchar_t code = 0;
    std::mbstate_t state{};
    const size_t length = std::mbrtowc(&code, text.data(), text.size(), &state);
    const bool is_wide = length > 1 && length <= text.size();
    width += is_wide ? static_cast<size_t>(std::max(wcwidth(code), 0)) : 1;
    text.remove_prefix(is_wide ? length : 1);
  }
  uselocale(old_locale);
  return width;
}

}  // namespace crescent
