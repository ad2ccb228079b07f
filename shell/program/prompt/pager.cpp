#include "pager.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "crescent/system/process.h"
#include "editor/screen/letters.h"
#include "editor/screen/terminal.h"

namespace crescent::program {
namespace {

// the lowest exit status of a shell that cannot run a program
constexpr int kCannotRun = 126;

/// While an object of this class exists, SIGPIPE and the signals meant for the pager are ignored.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    for (size_t i = 0; i < std::size(kIgnoredSignals); ++i)
      old_handlers_[i] = std::signal(kIgnoredSignals[i], SIG_IGN);
  }
  ~IgnoredSignals() {
    for (size_t i = 0; i < std::size(kIgnoredSignals); ++i)
      std::signal(kIgnoredSignals[i], old_handlers_[i]);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;

 private:
  static constexpr int kIgnoredSignals[] = {SIGINT, SIGQUIT, SIGPIPE};
  sighandler_t old_handlers_[std::size(kIgnoredSignals)];
};

/// Whether the text and the next prompt do not fit on the terminal.
bool exceeds_screen(std::string_view text, editor::Size size) {
  int rows = 1, column = 0;
  for (size_t offset = 0; offset < text.size() && rows < size.rows;) {
    const size_t end = editor::next_letter(text, offset);
    const bool is_line_end = text[offset] == '\n';
    column += is_line_end ? 0 : editor::width_of(text.substr(offset, end - offset), column);
    if (is_line_end || column > size.columns) ++rows, column = 0;
    offset = end;
  }
  return rows >= size.rows;
}

/// The command of the pager; `less` gets options to quit at once if the text fits on the screen,
/// and to leave the text there.
std::string command() {
  const char* pager = std::getenv("PAGER");
  return std::string("LESS=\"${LESS-FRX}\"; export LESS; ") + (pager && *pager ? pager : "less");
}

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
}

bool show_in_pager(const std::string& text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  Descriptor read_end(ends[0]), write_end(ends[1]);
  ProcessOptions options;
  options.descriptors = {{read_end, 0}, {STDOUT_FILENO, 1}, {STDERR_FILENO, 2}};
  const IgnoredSignals ignored_signals;
  Process pager = Process::program({"/bin/sh", "-c", command()}, options);
  read_end = Descriptor();
  write_all(write_end, text + "\n");
  write_end = Descriptor();
  pager.wait();
  return pager.exit_status() < kCannotRun;
}

}  // namespace

void print_paged(const std::string& text, bool may_use_pager) {
  const editor::Terminal terminal(STDIN_FILENO, STDOUT_FILENO);
  // At a terminal, stdout writes each complete row at once, so only an incomplete row is pending.
  const bool has_incomplete_row = __fpending(stdout) > 0;
  std::fflush(stdout);
  if (has_incomplete_row && terminal.can_edit()) terminal.start_row();
  const bool uses_pager =
      may_use_pager && terminal.can_edit() && exceeds_screen(text, terminal.size());
  if (uses_pager && show_in_pager(text)) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace crescent::program
