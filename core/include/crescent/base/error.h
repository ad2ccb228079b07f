// Errors are part of the interface: one exception type, and fail() to raise it from pieces.
//
//   if (a.rank() < 2) fail("matmul: expected at least 2 axes, got shape ", a.shape());
//
// fail() is for the user's mistakes; assert() is for ours. A piece is anything with an overload of
// `std::string to_text(const T&)` found here or beside T (argument-dependent lookup).
#pragma once
#include <concepts>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

class CRESCENT_API Error : public std::runtime_error {
 public:
  /// The message is for people to read: it is kept as printable() writes it.
  explicit Error(std::string_view message);
  ~Error() override;
  /// Puts in front of the message what was being done. Caught by reference and thrown on, the error
  /// stays what it is.
  void add_context(std::string_view context);
  /// The layer that the message names: the innermost one in which it was raised. Empty while it
  /// names none.
  const std::string& layer() const { return layer_; }
  void set_layer(std::string name) { layer_ = std::move(name); }

 private:
  std::string layer_;
};

/// A training run or a long operation was stopped from outside (Ctrl-C); state is consistent.
class CRESCENT_API Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

/// Data that a program cannot be run on: an index or a label out of range. Whoever knows which
/// batch it was says so.
class CRESCENT_API DataError : public Error {
 public:
  using Error::Error;
  ~DataError() override;
};

inline std::string to_text(std::string_view s) { return std::string(s); }
inline std::string to_text(const char* s) { return s; }
inline std::string to_text(const std::string& s) { return s; }
inline std::string to_text(char c) { return std::string(1, c); }
inline std::string to_text(bool b) { return b ? "true" : "false"; }
/// Shortest text that reads back as the same number ("0.1", "1e-07", "3").
CRESCENT_API std::string to_text(double x);
template <std::integral T>
std::string to_text(T n) {
  return std::to_string(n);
}

/// The pieces as one text.
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string text;
  (text.append(to_text(pieces)), ...);
  return text;
}

[[noreturn]] CRESCENT_API void raise_error(std::string_view message, std::string layer = {});

template <class... Pieces>
[[noreturn]] void fail(const Pieces&... pieces) {
  raise_error(concat(pieces...));
}

/// For messages that name the layer themselves; in front of others the layer's name is put when
/// they leave its call.
template <class... Pieces>
[[noreturn]] void fail_in_layer(const std::string& layer, const Pieces&... pieces) {
  raise_error(concat(pieces...), layer);
}

/// For the outermost handlers: what is being handled, whatever was thrown. "std::out_of_range:
/// ...", "not enough memory", "an exception of type int"; an Error's message as it is.
CRESCENT_API std::string exception_text();

/// `text` as it can be shown on a terminal: control characters other than new lines and tabs, and
/// bytes that are no UTF-8, are written as "\x1b" and "\u009b". What is printable stays, letters of
/// any language too.
CRESCENT_API std::string printable(std::string_view text);

/// Something the user should know and that stops nothing: a line on stderr, or what the host's
/// handler makes of it.
CRESCENT_API void warn_text(std::string_view text);
CRESCENT_API void set_warning_handler(
    void (*handler)(std::string_view text));  ///< null: stderr again

template <class... Pieces>
void warn(const Pieces&... pieces) {
  warn_text(concat(pieces...));
}

/// " (did you mean 'units'?)" when a candidate is near enough to `word`, else "".
CRESCENT_API std::string did_you_mean(std::string_view word,
                                      std::span<const std::string> candidates);

/// "dense_1, dense_2, ..." for messages.
CRESCENT_API std::string join(std::span<const std::string> words,
                              std::string_view separator = ", ");

}  // namespace crescent
