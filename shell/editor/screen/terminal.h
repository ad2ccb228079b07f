// The user's terminal: its modes, its size, and its capabilities.
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

  /// False if input or output is not a terminal, or the terminal cannot move its cursor.
  bool can_edit() const { return can_edit_; }
  /// True for a terminal with colours and bracketed paste.
  bool is_modern() const { return is_modern_; }
  /// True for a terminal that breaks wide rows when it becomes narrower.
  bool breaks_rows() const;
  Size size() const;
  void write(std::string_view bytes) const;
  /// Moves the cursor to the start of a row. If text without a newline precedes the cursor, the
  /// text stays, with a mark behind it, and the cursor moves to the next row. Since the position of
  /// the cursor is unknown, the function writes the mark and enough blanks to fill a row: they
  /// reach the next row unless the cursor was at the start of a row, where they are erased.
  void start_row() const;
  int input() const { return input_; }
  /// True from enter() until leave(false): keys arrive one by one and are not echoed.
  bool is_raw() const { return mode_ != Mode::original; }

  /// Switches to a mode in which keys arrive one by one, no key sends a signal, and pasted text is
  /// marked; does nothing in this mode.
  void enter();
  /// Restores the original mode of the terminal. With `has_typed_ahead`, keys still arrive one by
  /// one and are not echoed, but keys such as Ctrl-C send their signals.
  void leave(bool has_typed_ahead);

 private:
  enum class Mode { original, typed_ahead, editing };

  int input_, output_;
  bool can_edit_ = false, is_modern_ = false;
  Mode mode_ = Mode::original;
  termios original_mode_{};
};

/// While an object of this class exists, the signals SIGWINCH and SIGCONT make the file descriptor
/// file() readable, and so does wake().
class Wakeups {
 public:
  Wakeups();
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  static int file();
  /// Makes file() readable. Any thread may call it.
  static void wake();
  /// Makes file() unreadable again. Returns true if the process was stopped and continued since the
  /// last call.
  static bool clear();

 private:
  struct sigaction previous_actions_[2];
};

}  // namespace crescent::editor
