#include "targets/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "crescent/system/file.h"

namespace crescent::pictures {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kAnswerTimeout{20};
constexpr std::string_view kAskAttributes = "\033[c";
constexpr std::string_view kAskKitty = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c";

std::string_view environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// During its lifetime the terminal does not echo input and passes it on without waiting for a line
/// end.
class UnbufferedInput {
 public:
  explicit UnbufferedInput(int terminal) : terminal_(terminal) {
    has_changed_settings_ = tcgetattr(terminal, &previous_settings_) == 0;
    termios mode = previous_settings_;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 0, mode.c_cc[VTIME] = 0;
    has_changed_settings_ = has_changed_settings_ && tcsetattr(terminal, TCSANOW, &mode) == 0;
  }
  ~UnbufferedInput() {
    if (has_changed_settings_) tcsetattr(terminal_, TCSANOW, &previous_settings_);
  }
  UnbufferedInput(const UnbufferedInput&) = delete;
  bool has_changed() const { return has_changed_settings_; }

 private:
  int terminal_;
  termios previous_settings_{};
  bool has_changed_settings_ = false;
};

bool is_readable(int terminal, Clock::time_point deadline) {
  const auto time_left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd wait{terminal, POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, time_left.count()))) == 1;
}

/// Whether the answer of a terminal contains complete device attributes, "\033[?...c".
bool has_attributes(std::string_view answer) {
  const size_t begin = answer.find("\033[?");
  return begin != answer.npos && answer.find('c', begin) != answer.npos;
}

/// Writes a query to the terminal and reads its answer, until the answer contains the device
/// attributes, which every terminal sends, or until the time `deadline`.
std::string query(int terminal, std::string_view question, Clock::time_point deadline) {
  std::string answer;
  if (::write(terminal, question.data(), question.size()) != static_cast<ssize_t>(question.size()))
    return answer;
  while (!has_attributes(answer) && is_readable(terminal, deadline)) {
    char bytes[256];
    const ssize_t count = ::read(terminal, bytes, sizeof bytes);
    if (count <= 0) break;
    answer.append(bytes, static_cast<size_t>(count));
  }
  return answer;
}

struct GraphicsSupport {
  bool supports_kitty = false, supports_sixel = false;
};

/// Asks the terminal which graphics protocols it supports, unless there is unread keyboard input,
/// which the queries would consume. The query about kitty is only sent if the terminal has answered
/// the first query in time, because a late answer would look like typed text.
GraphicsSupport query_graphics() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (terminal < 0) return {};
  const UnbufferedInput mode(terminal);
  const auto deadline = Clock::now() + kAnswerTimeout;
  if (!mode.has_changed() || is_readable(terminal, Clock::now())) return {};
  const std::string attributes = query(terminal, kAskAttributes, deadline);
  if (!has_attributes(attributes)) return {};
  return {says_kitty(query(terminal, kAskKitty, deadline)), says_sixel(attributes)};
}

int colors_of(std::string_view terminal_name) {
  if (!environment_variable("NO_COLOR").empty() || terminal_name == "dumb" || terminal_name.empty())
    return 0;
  const std::string_view color_support = environment_variable("COLORTERM");
  if (color_support == "truecolor" || color_support == "24bit" ||
      terminal_name.ends_with("-direct"))
    return 1 << 24;
  return terminal_name.find("256") != terminal_name.npos || terminal_name.starts_with("xterm-kitty")
             ? 256
             : 16;
}

/// Whether the locale in the environment variables uses UTF-8. Does not change the locale of the
/// process.
bool is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment_variable(name);
    if (locale.empty()) continue;
    return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos ||
           locale.find("UTF8") != locale.npos || locale.find("utf-8") != locale.npos;
  }
  return false;
}

}  // namespace

bool says_sixel(std::string_view answer) {
  const size_t begin = answer.find("\033[?");
  if (begin == answer.npos) return false;
  std::string_view attribute_list = answer.substr(begin + 3);
  attribute_list = attribute_list.substr(0, attribute_list.find('c'));
  for (size_t number_start = 0; number_start <= attribute_list.size();) {
    const size_t number_end =
        std::min(attribute_list.find(';', number_start), attribute_list.size());
    // The loop skips the first number, which is the device class.
    if (number_start > 0 && attribute_list.substr(number_start, number_end - number_start) == "4")
      return true;
    number_start = number_end + 1;
  }
  return false;
}

bool says_kitty(std::string_view answer) { return answer.find("\033_Gi=31;OK") != answer.npos; }

Terminal terminal_now() {
  Terminal terminal;
  const std::string_view term = environment_variable("TERM");
  terminal.cell_options.unicode = is_utf8() && term != "dumb";
  winsize size{};
  if (!isatty(STDOUT_FILENO)) return terminal;
  terminal.cell_options.colors = colors_of(term);
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col, terminal.rows = size.ws_row;
    if (size.ws_xpixel > 0 && size.ws_col > 0)
      terminal.cell_width = 1.0 * size.ws_xpixel / size.ws_col;
    if (size.ws_ypixel > 0 && size.ws_row > 0)
      terminal.cell_height = 1.0 * size.ws_ypixel / size.ws_row;
  }
  if (term == "dumb") return terminal;
  static const GraphicsSupport graphics = query_graphics();
  terminal.supports_kitty = graphics.supports_kitty,
  terminal.supports_sixel = graphics.supports_sixel;
  return terminal;
}

}  // namespace crescent::pictures
