#include "terminal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace crescent::editor {
namespace {

constexpr int kWakeupSignals[] = {SIGWINCH, SIGCONT};
std::atomic<int> wakeup_file = -1;

constexpr uint64_t kContinued = uint64_t{1} << 32;

void add_wakeup(uint64_t count) {
  const int error = errno;
  if (::write(wakeup_file, &count, sizeof count) < 0) errno = error;
}

extern "C" void crescent_wake_editor(int signal) { add_wakeup(signal == SIGCONT ? kContinued : 1); }

/// The terminal that is without line editing and echo while code of the user runs, and its original
/// mode. If that code exits the process, restore_mode() restores the mode.
struct {
  int file = -1;
  termios mode;
} terminal_to_restore;

void restore_mode() {
  if (terminal_to_restore.file >= 0)
    tcsetattr(terminal_to_restore.file, TCSANOW, &terminal_to_restore.mode);
}

void restore_at_exit(int file, const termios& mode) {
  static const bool is_registered = std::atexit(restore_mode) == 0;
  if (is_registered) terminal_to_restore = {file, mode};
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Terminals as old as the VT100 support neither colours nor bracketed paste.
bool is_old_terminal(const std::string& name) {
  for (const char* prefix : {"vt", "ansi", "sun", "cons25", "wyse"})
    if (name.starts_with(prefix)) return true;
  return false;
}

}  // namespace

Terminal::Terminal(int input, int output) : input_(input), output_(output) {
  const std::string name = environment_variable("TERM");
  can_edit_ = isatty(input) && isatty(output) && !name.empty() && name != "dumb" &&
              tcgetattr(input, &original_mode_) == 0;
  is_modern_ = can_edit_ && !is_old_terminal(name);
}

bool Terminal::breaks_rows() const {
  return environment_variable("XTERM_VERSION").empty() && environment_variable("TERM") != "linux";
}

Size Terminal::size() const {
  winsize window_size{};
  if (ioctl(output_, TIOCGWINSZ, &window_size) != 0 || window_size.ws_col == 0 ||
      window_size.ws_row == 0)
    return {};
  return {window_size.ws_row, std::max<int>(window_size.ws_col, 2)};
}

void Terminal::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(output_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd request{output_, POLLOUT, 0};
      poll(&request, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

void Terminal::start_row() const {
  winsize window_size{};
  if (ioctl(output_, TIOCGWINSZ, &window_size) != 0 || window_size.ws_col == 0) return;
  write("\x1b[7m%\x1b[m" + std::string(window_size.ws_col - 1, ' ') + "\r\x1b[K");
}

void Terminal::enter() {
  if (mode_ == Mode::editing) return;
  if (mode_ == Mode::original) tcgetattr(input_, &original_mode_);
  termios raw_mode = original_mode_;
  raw_mode.c_iflag &=
      ~static_cast<tcflag_t>(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  raw_mode.c_oflag |= OPOST | ONLCR;
  raw_mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw_mode.c_cc[VMIN] = 1;
  raw_mode.c_cc[VTIME] = 0;
  tcsetattr(input_, TCSANOW, &raw_mode);
  mode_ = Mode::editing;
  if (is_modern_) write("\x1b[?2004h");
}

void Terminal::leave(bool has_typed_ahead) {
  const Mode new_mode = has_typed_ahead ? Mode::typed_ahead : Mode::original;
  if (mode_ == Mode::original || mode_ == new_mode) return;
  termios mode = original_mode_;
  if (has_typed_ahead) mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
  if (has_typed_ahead) restore_at_exit(input_, original_mode_);
  if (!has_typed_ahead) terminal_to_restore.file = -1;
  if (is_modern_ && mode_ == Mode::editing) write("\x1b[?2004l");
  tcsetattr(input_, TCSANOW, &mode);
  mode_ = new_mode;
}

Wakeups::Wakeups() {
  if (wakeup_file < 0) wakeup_file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = crescent_wake_editor;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 2; ++i) sigaction(kWakeupSignals[i], &action, &previous_actions_[i]);
}

Wakeups::~Wakeups() {
  for (int i = 0; i < 2; ++i) sigaction(kWakeupSignals[i], &previous_actions_[i], nullptr);
}

int Wakeups::file() { return wakeup_file; }

void Wakeups::wake() { add_wakeup(1); }

bool Wakeups::clear() {
  uint64_t count = 0;
  return ::read(wakeup_file, &count, sizeof count) > 0 && count >= kContinued;
}

}  // namespace crescent::editor
