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
    for (size_t i = 0; i < std::size(kIgnored); ++i)
      old_handlers_[i] = std::signal(kIgnored[i], SIG_IGN);
  }
  ~IgnoredSignals() {
    for (size_t i = 0; i < std::size(kIgnored); ++i) std::signal(kIgnored[i], old_handlers_[i]);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;

 private:
  static constexpr int kIgnored[] = {SIGINT, SIGQUIT, SIGPIPE};
  sighandler_t old_handlers_[std::size(kIgnored)];
};

/// Whether the text and the next prompt do not fit on the terminal.
bool is_higher(std::string_view text, editor::Size size) {
  int rows = 1, column = 0;
  for (size_t at = 0; at < text.size() && rows < size.rows;) {
    const size_t end = editor::next_letter(text, at);
    const bool is_line_end = text[at] == '\n';
    column += is_line_end ? 0 : editor::width_of(text.substr(at, end - at), column);
    if (is_line_end || column > size.columns) ++rows, column = 0;
    at = end;
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
  Descriptor reading(ends[0]), writing(ends[1]);
  ProcessOptions options;
  options.descriptors = {{reading, 0}, {STDOUT_FILENO, 1}, {STDERR_FILENO, 2}};
  const IgnoredSignals ignored;
  Process pager = Process::program({"/bin/sh", "-c", command()}, options);
  reading = Descriptor();
  write_all(writing, text + "\n");
  writing = Descriptor();
  pager.wait();
  return pager.exit_status() < kCannotRun;
}

}  // namespace

void print_paged(const std::string& text, bool is_paged) {
  const editor::Terminal terminal(STDIN_FILENO, STDOUT_FILENO);
  // At a terminal, stdout writes each complete row at once, so only an incomplete row is pending.
  const bool has_incomplete_row = __fpending(stdout) > 0;
  std::fflush(stdout);
  if (has_incomplete_row && terminal.can_edit()) terminal.start_row();
  const bool uses_pager = is_paged && terminal.can_edit() && is_higher(text, terminal.size());
  if (uses_pager && show_in_pager(text)) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace crescent::program
