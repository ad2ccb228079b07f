#include "grid.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace crescent::editor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLongEntry = 60;

std::string printed_entry(std::string entry) {
  if (entry.size() > kLongEntry) return std::to_string(entry.size()) + " " + hash_of(entry);
  std::replace(entry.begin(), entry.end(), '\n', '|');
  return entry;
}

/// The child process: reads entries at the terminal and prints them.
[[noreturn]] void read_entries(const Options& options) {
  ::signal(SIGINT, SIG_IGN);  // ignores a Ctrl-C that arrives between two entries
  Settings settings;
  settings.history = options.history;
  Editor editor(test_callbacks(), settings);
  std::string entry;
  for (;;) {
    const Editor::Result result = editor.read(entry);
    if (result == Editor::Result::entry) std::printf("[%s]\n", printed_entry(entry).c_str());
    std::fflush(stdout);
    if (result == Editor::Result::entry && entry == "exit") _exit(3);
    if (result != Editor::Result::end) continue;
    std::printf("\nended\n");
    if (options.ends_with_input) break;
  }
  std::fflush(stdout);
  std::exit(0);
}

[[noreturn]] void run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

/// Makes this process a child of a process that acts as its shell and only waits, so that this
/// process can be stopped and continued.
void become_job() {
  const pid_t job_process = fork();
  if (job_process == 0) {
    setpgid(0, 0);
    ::signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(0, getpid());
    ::signal(SIGTTOU, SIG_DFL);
    return;
  }
  ::signal(SIGHUP, SIG_IGN);
  int status = 0;
  while (waitpid(job_process, &status, 0) < 0) continue;
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

pid_t child_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  for (int tries = 0; tries < 2000; ++tries, usleep(1000)) {
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    if (pid_t child; children >> child) return child;
  }
  return -1;
}

std::string utf8(uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  std::string bytes;
  int shift = code < 0x800 ? 6 : code < 0x10000 ? 12 : 18;
  bytes += static_cast<char>((code < 0x800 ? 0xc0 : code < 0x10000 ? 0xe0 : 0xf0) | code >> shift);
  while (shift > 0) bytes += static_cast<char>(0x80 | (code >> (shift -= 6) & 0x3f));
  return bytes;
}

/// The state of a process as Linux reports it: 'S' sleeping, 'T' stopped, ...
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);  // an iterator throws if the process ends while it reads
  const size_t end = text.rfind(") ");
  return end == text.npos ? 'X' : text[end + 2];
}

/// Whether the process is running; false while it sleeps, and after its end.
bool is_busy(pid_t process) {
  return std::string("SZX").find(state_of(process)) == std::string::npos;
}

}  // namespace

TestFolder::TestFolder() {
  std::string name = std::filesystem::temp_directory_path() / "crescent-editor-XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path = name;
}

std::string hash_of(const std::string& text) {
  return std::to_string(std::hash<std::string>()(text));
}

Callbacks test_callbacks() {
  Callbacks callbacks;
  callbacks.is_complete = [](const std::string& text) {
    return text.find('(') == text.npos || text.ends_with(')');
  };
  callbacks.colours = [](const std::string& text, size_t) {
    std::vector<Style> styles(text.size());
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] >= '0' && text[i] <= '9') styles[i] = Style::number;
    return styles;
  };
  callbacks.hint = [](const std::string& text, size_t) -> std::string {
    return text.find("Dense(") == text.npos ? "" : "Dense(units, {activation=...})";
  };
  callbacks.completions = [](const std::string& text, size_t cursor) {
    Completions completions;
    completions.begin = text.find_last_of(" (\n", cursor == 0 ? 0 : cursor - 1) + 1;
    if (completions.begin > cursor) completions.begin = cursor;
    const std::string typed_word = text.substr(completions.begin, cursor - completions.begin);
    for (const char* word : {"alpha", "alphabet", "beta", "gamma"})
      if (std::string(word).starts_with(typed_word))
        completions.candidates.push_back({word, std::string("what ") + word + " is"});
    return completions;
  };
  return callbacks;
}

TestTerminal::TestTerminal(const Options& options)
    : rows_(options.rows), columns_(options.columns), is_dumb_(options.terminal_type == "dumb") {
  terminal_ = vterm_new(rows_, columns_);
  vterm_set_utf8(terminal_, 1);
  screen_ = vterm_obtain_screen(terminal_);
  vterm_screen_reset(screen_, 1);
  const winsize size{static_cast<unsigned short>(rows_), static_cast<unsigned short>(columns_), 0,
                     0};
  std::cout.flush();
  std::fflush(stdout);
  child_ = forkpty(&file_, nullptr, nullptr, &size);
  REQUIRE(child_ >= 0);
  if (child_ == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    setenv("TERM", options.terminal_type.c_str(), 1);
    setenv("XTERM_VERSION", "1", 1);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    if (options.has_shell) become_job();
    options.command.empty() ? read_entries(options) : run(options.command);
  }
  keys_ = open(ptsname(file_), O_RDONLY | O_NOCTTY);
  REQUIRE(keys_ >= 0);
  parent_ = child_;
  if (options.has_shell) child_ = child_of(parent_);
  if (options.command.empty()) expect_row(0, ">");
}

TestTerminal::~TestTerminal() {
  kill(child_, SIGKILL);
  close(keys_);
  close(file_);
  if (parent_ > 0) waitpid(parent_, nullptr, 0);
  vterm_free(terminal_);
}

void TestTerminal::read_some(int milliseconds) {
  pollfd polled_file{file_, POLLIN, 0};
  if (poll(&polled_file, 1, milliseconds) <= 0) return;
  char buffer[65536];
  const ssize_t count = ::read(file_, buffer, sizeof buffer);
  if (count <= 0) return;
  output_.append(buffer, static_cast<size_t>(count));
  vterm_input_write(terminal_, buffer, static_cast<size_t>(count));
}

bool TestTerminal::reads_keys() const {
  termios mode;
  return tcgetattr(file_, &mode) == 0 && (is_dumb_ || !(mode.c_lflag & ICANON));
}

/// Whether there are keys that the process has not read. The kernel may deliver the bytes of send()
/// with a delay; poll() waits for this delivery.
bool TestTerminal::has_unread_keys() const {
  pollfd polled_file{keys_, POLLIN, 0};
  return poll(&polled_file, 1, 0) > 0 && (polled_file.revents & POLLIN);
}

/// Reads output of the process while it writes input to it, so that the two processes cannot block
/// each other.
void TestTerminal::send(std::string_view bytes) {
  wait_for("the editor", [&] { return reads_keys(); });
  while (!bytes.empty()) {
    pollfd polled_file{file_, POLLIN | POLLOUT, 0};
    REQUIRE(poll(&polled_file, 1, 30000) > 0);
    if (polled_file.revents & POLLIN) read_some(0);
    if (!(polled_file.revents & POLLOUT)) continue;
    const ssize_t count = ::write(file_, bytes.data(), std::min<size_t>(bytes.size(), 1024));
    REQUIRE(count >= 0);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string TestTerminal::row(int row) const {
  std::string text;
  size_t end = 0;
  for (int column = 0; column < columns_; ++column) {
    VTermScreenCell cell;
    vterm_screen_get_cell(screen_, {row, column}, &cell);
    if (cell.chars[0] == 0) text += ' ';
    if (cell.chars[0] == 0 || cell.chars[0] == static_cast<uint32_t>(-1)) {
      if (cell.chars[0] != 0) text.pop_back();
      continue;
    }
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; ++i) text += utf8(cell.chars[i]);
    end = text.size();
    if (cell.width == 2) ++column;
  }
  return text.substr(0, text.find_last_not_of(' ', end) + 1);
}

VTermPos TestTerminal::cursor() const {
  VTermPos position;
  vterm_state_get_cursorpos(vterm_obtain_state(terminal_), &position);
  return position;
}

std::string TestTerminal::screen() const {
  std::string text;
  for (int i = 0; i < rows_; ++i) text += row(i) + "\n";
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

void TestTerminal::wait_for(const std::string& event, const std::function<bool()>& is_fulfilled) {
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (!is_fulfilled() && Clock::now() < end) read_some(20);
  INFO("cursor at " << cursor().row << ", " << cursor().col << " of\n" << screen());
  INFO("waited for " << event);
  REQUIRE(is_fulfilled());
}

void TestTerminal::expect_row(int index, const std::string& text) {
  wait_for("row " + std::to_string(index) + ": " + text, [&] { return row(index) == text; });
}

void TestTerminal::expect_cursor(int row, int column) {
  wait_for("the cursor at " + std::to_string(row) + ", " + std::to_string(column),
           [&] { return cursor().row == row && cursor().col == column; });
}

void TestTerminal::expect_cursor_row(const std::string& beginning) {
  wait_for("the row of the cursor: " + beginning,
           [&] { return row(cursor().row).starts_with(beginning); });
}

void TestTerminal::expect(const std::string& text) {
  wait_for(text, [&] {
    for (int i = 0; i < rows_; ++i)
      if (row(i).find(text) != std::string::npos) return true;
    return false;
  });
}

void TestTerminal::settle(std::chrono::milliseconds quiet) {
  const auto end = Clock::now() + std::chrono::seconds(30);
  // Counts polls of a millisecond each and does not measure the time, which also passes while this
  // process waits for a processor and polls nothing.
  for (std::chrono::milliseconds polled_milliseconds{0};
       polled_milliseconds < quiet && Clock::now() < end; ++polled_milliseconds) {
    const size_t old_size = output_.size();
    read_some(1);
    if (output_.size() != old_size || has_unread_keys() || is_busy(child_))
      polled_milliseconds = std::chrono::milliseconds(-1);
  }
}

void TestTerminal::resize(int rows, int columns) {
  rows_ = rows, columns_ = columns;
  vterm_set_size(terminal_, rows, columns);
  const winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  REQUIRE(ioctl(file_, TIOCSWINSZ, &size) == 0);
}

double TestTerminal::processor_seconds() const {
  std::ifstream file("/proc/" + std::to_string(child_) + "/schedstat");
  double nanoseconds = 0;
  file >> nanoseconds;
  return nanoseconds * 1e-9;
}

int TestTerminal::end() {
  wait_for("the end", [&] { return state_of(child_) == 'Z' || state_of(child_) == 'X'; });
  int status = 0;
  waitpid(std::exchange(parent_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void TestTerminal::signal(int number) const { kill(child_, number); }
bool TestTerminal::is_stopped() const { return state_of(child_) == 'T'; }

}  // namespace crescent::editor
