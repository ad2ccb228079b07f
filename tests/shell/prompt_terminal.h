// Runs the program on a pseudo-terminal, for tests of the prompt.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace crescent::prompt_tests {

namespace fs = std::filesystem;

/// A temporary folder for the history file of one test's sessions.
class StateFolder {
 public:
  StateFolder() {
    std::string name = fs::temp_directory_path() / "crescent-prompt-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~StateFolder() { fs::remove_all(path); }
  fs::path path;
};

/// The program, running on a pseudo-terminal of its own.
class Terminal {
 public:
  explicit Terminal(const StateFolder& state, std::vector<std::string> arguments = {}) {
    const winsize size{40, kColumns, 0, 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ > 0) return;
    setenv("XDG_STATE_HOME", state.path.c_str(), 1);
    setenv("CRESCENT_INIT", "", 1);
    setenv("TERM", "vt100", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    const std::string program = CRESCENT_PROGRAM;
    std::vector<char*> argument_pointers{const_cast<char*>(program.c_str())};
    for (std::string& argument : arguments) argument_pointers.push_back(argument.data());
    argument_pointers.push_back(nullptr);
    execv(program.c_str(), argument_pointers.data());
    _exit(127);
  }
  ~Terminal() {
    if (!has_ended_) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
    close(terminal_);
  }

  void send(const std::string& text) {
    REQUIRE(write(terminal_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  /// Sends a text that may be longer than the terminal's buffer; reads output meanwhile.
  void send_and_read(const std::string& text) {
    const int flags = fcntl(terminal_, F_GETFL);
    fcntl(terminal_, F_SETFL, flags | O_NONBLOCK);
    for (size_t position = 0; position < text.size();) {
      const ssize_t count = write(terminal_, text.data() + position, text.size() - position);
      if (count > 0) position += static_cast<size_t>(count);
      while (read_some(count > 0 ? 0 : 1)) continue;
    }
    fcntl(terminal_, F_SETFL, flags);
  }
  void enter(const std::string& line) { send(line + "\r"); }

  /// Reads until the text appears in the output since the last call; returns the output before it.
  std::string expect(const std::string& text, int seconds = 30) {
    size_t search_start = 0;
    for (const time_t end = time(nullptr) + seconds; time(nullptr) <= end; read_some(100)) {
      if (const size_t position = shown_text_.find(text, search_start);
          position != std::string::npos) {
        std::string earlier_output = shown_text_.substr(0, position);
        shown_text_.erase(0, position + text.size());
        return earlier_output;
      }
      search_start = shown_text_.size() - std::min(shown_text_.size(), text.size());
    }
    const std::string last_output =
        shown_text_.substr(shown_text_.size() - std::min<size_t>(shown_text_.size(), 2000));
    FAIL("no '" << text << "' within " << seconds << " s in what the terminal showed:\n"
                << last_output);
    return "";
  }
  /// Sends a signal, as Ctrl-C sends SIGINT; unlike Ctrl-C it does not make the terminal discard
  /// pending output.
  void signal(int number) { REQUIRE(kill(child_, number) == 0); }
  pid_t process() const { return child_; }
  /// The processor time in seconds of the program's first thread.
  double processor_seconds() const {
    double nanoseconds = 0;
    std::ifstream("/proc/" + std::to_string(child_) + "/schedstat") >> nanoseconds;
    return nanoseconds * 1e-9;
  }

  /// Waits until the program has ended; returns its exit status.
  int end(int seconds = 30) {
    int status = 0;
    for (int wait_count = 0; wait_count < seconds * 10; ++wait_count) {
      read_some(100);
      if (waitpid(child_, &status, WNOHANG) == child_) {
        has_ended_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
    FAIL("the program did not end; it showed:\n" << shown_text_);
    return -1;
  }
  const std::string& shown_text() const { return shown_text_; }

 private:
  static constexpr unsigned short kColumns = 120;

  bool read_some(int milliseconds) {
    pollfd ready{terminal_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    char buffer[4096];
    const ssize_t count = read(terminal_, buffer, sizeof buffer);
    // The program has closed its side of the terminal.
    if (count <= 0) return usleep(1000 * milliseconds), false;
    shown_text_.append(buffer, static_cast<size_t>(count));
    remove_row_starts();
    return true;
  }
  /// Removes from the output the sequence by which the editor moves to the start of a row.
  void remove_row_starts() {
    const std::string row_start = "\x1b[7m%\x1b[m" + std::string(kColumns - 1, ' ') + "\r\x1b[K";
    for (size_t position; (position = shown_text_.find(row_start)) != std::string::npos;)
      shown_text_.erase(position, row_start.size());
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  bool has_ended_ = false;
  std::string shown_text_;
};

/// Lua code that makes data x, y and a compiled model.
inline const std::string kModel =
    "x, y = cr.zeros{64, 4}, cr.zeros{64, 1} model = cr.Sequential{ cr.layers.Dense(1, "
    "{input_shape = {4}}) } "
    "model:compile{ optimizer = 'sgd', loss = 'mse' } ";

}  // namespace crescent::prompt_tests
