// Runs the editor on a pseudo-terminal, whose screen is available as a grid of cells.
#pragma once
#include <vterm.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "editor/editor.h"

namespace crescent::editor {

inline constexpr const char *kUp = "\x1b[A", *kDown = "\x1b[B", *kRight = "\x1b[C",
                            *kLeft = "\x1b[D", *kEscape = "\x1b";

/// A temporary folder that exists as long as a test.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// Callbacks for a small test language: an entry with "(" ends with the matching ")", "Dense(" has
/// a hint, and a few words can be completed.
Callbacks test_callbacks();

struct Options {
  int rows = 24, columns = 80;
  std::string terminal_type = "xterm-256color";
  std::string history;
  std::vector<std::pair<std::string, std::string>> environment;
  bool ends_with_input = true;  ///< whether the process ends at the end of the input
  bool has_shell = true;  ///< if false, there is no shell that could continue a stopped process
  /// The path and the arguments of the program to run; if empty, a process that only reads entries
  /// with the editor.
  std::vector<std::string> command;
};

/// A process that reads entries with the editor and prints each in square brackets, with "|" for
/// line ends; of a long entry it prints the size and a hash.
class TestTerminal {
 public:
  explicit TestTerminal(const Options& options = {});
  ~TestTerminal();

  /// Sends keys to the process, as soon as its editor reads keys.
  void send(std::string_view bytes);
  /// Waits until the row shows this text.
  void expect_row(int row, const std::string& text);
  void expect_cursor(int row, int column);
  /// Waits until the row of the cursor begins with the text.
  void expect_cursor_row(const std::string& beginning);
  /// Waits until a row contains the text.
  void expect(const std::string& text);
  /// Waits until the process waits for input and all its output has been shown.
  void settle(std::chrono::milliseconds quiet = std::chrono::milliseconds(5));
  void resize(int rows, int columns);

  std::string row(int row) const;
  /// All rows down to the last one that is not empty.
  std::string screen() const;
  VTermPos cursor() const;
  int rows() const { return rows_; }
  /// What the process wrote since the last call.
  std::string take_output() { return std::exchange(output_, ""); }
  pid_t process() const { return child_; }
  /// The processor time of the process in seconds.
  double processor_seconds() const;
  /// The exit status, once the process has ended.
  int end();
  /// Sends a signal to the process, as its shell would.
  void signal(int number) const;
  bool is_stopped() const;

 private:
  void read_some(int milliseconds);
  void wait_for(const std::string& event, const std::function<bool()>& is_fulfilled);
  /// Whether the editor reads keys. Between two entries it does not, and the terminal would echo
  /// keys.
  bool reads_keys() const;
  bool has_unread_keys() const;

  int file_ = -1;  ///< the master end of the pseudo-terminal: writes keys and reads output
  int keys_ = -1;  ///< the slave end, from which the process reads keys
  int rows_, columns_;
  bool is_dumb_;
  pid_t child_ = -1;   ///< the process that reads entries
  pid_t parent_ = -1;  ///< the process that acts as the shell of child_, if there is one
  VTerm* terminal_;
  VTermScreen* screen_;
  std::string output_;
};

std::string hash_of(const std::string& text);

}  // namespace crescent::editor
