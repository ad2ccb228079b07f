// The user's input as events: text, keys with their modifiers, and pasted text.
#pragma once
#include <termkey.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace crescent::editor {

struct Event {
  enum class Kind {
    text,     ///< typed characters
    pasted,   ///< text that the terminal marked as pasted
    key,      ///< a key by its name: "C-a", "A-Enter", "S-Tab", "Up"
    woken,    ///< the terminal's size may have changed, or the process was stopped meanwhile
    stopped,  ///< a signal arrived
    closed    ///< the input has ended
  };
  Kind kind;
  std::string text;
};

class Input {
 public:
  /// `is_stopped` is called before each wait; a signal ends the wait.
  Input(int file, std::function<bool()> is_stopped);
  /// Waits for the next event. `wakeup_file` is a file descriptor that becomes readable when the
  /// terminal's size changes or the process continues.
  Event next(int wakeup_file);
  /// True when input has already arrived.
  bool pending();
  /// True when more input arrived with the last event, or follows at once, as in pasted text.
  bool in_burst();

 private:
  enum class WaitResult { input, woken, stopped, timed_out, closed };
  WaitResult wait(int wakeup_file, int milliseconds);
  WaitResult read_more(int wakeup_file);
  int timeout() const;
  bool decode();
  bool decode_paste();
  bool decode_text();
  bool decode_key();
  bool decode_sequence(std::string_view bytes);
  void push_keys(size_t byte_count);
  void take_keys_from_decoder(bool is_forced);
  void decode_incomplete();

  int file_;
  std::function<bool()> is_stopped_;
  std::unique_ptr<TermKey, void (*)(TermKey*)> key_decoder_;
  bool is_in_key_ = false, is_in_paste_ = false;
  std::string bytes_, paste_;
  size_t consumed_bytes_ = 0, last_read_size_ = 0;
  std::deque<Event> events_;
};

}  // namespace crescent::editor
