// The terminal at which somebody types: its modes, its size, and what it understands.
#pragma once
#include <termios.h>

#include <csignal>
#include <string_view>

#include "layout.h"

namespace crescent::editor {

class Terminal {
 public:
  Terminal(int input, int output);
  ~Terminal() { leave(false); }
  Terminal(const Terminal&) = delete;

  /// False without a terminal on both ends and for one that cannot move its cursor.
  bool can_edit() const { return can_edit_; }
  /// True for one that has colours and marks what is pasted.
  bool is_modern() const { return is_modern_; }
  /// True for one that breaks wide rows when it becomes narrower.
  bool breaks_rows() const;
  Size size() const;
  void write(std::string_view bytes) const;
  /// Moves the cursor to the start of a row: where a text without an end of line stands before it,
  /// of the next one, and the text has a mark behind it. A mark and blanks fill as many cells as a
  /// row has, so they go on in the next row unless they began a row, where they are erased.
  void start_row() const;
  int input() const { return input_; }

  /// Keys come one by one from now on, none is a signal, and pasted text is marked.
  void enter();
  /// Gives the terminal back as it was found; with `typed_ahead` keys go on to come one by one and
  /// without an echo, and those of signals are signals.
  void leave(bool typed_ahead);

 private:
  int input_, output_;
  bool can_edit_ = false, is_modern_ = false, entered_ = false;
  termios before_{};
};

/// While it lives, SIGWINCH and SIGCONT make its file descriptor readable.
class Wakeups {
 public:
  Wakeups();
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  static int file();
  /// Makes the file unreadable; true when the process was stopped meanwhile.
  static bool clear();

 private:
  struct sigaction before_[2];
};

}  // namespace crescent::editor
