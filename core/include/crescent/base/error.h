// Error is the base class of the exceptions that Crescent throws; fail() joins its arguments, the
// pieces, to a message and throws an Error.
//
//   if (a.rank() < 2) fail("matmul: expected at least 2 axes, got shape ", a.shape());
//
// fail() is for mistakes of users, assert() for mistakes in Crescent. A piece is anything with an
// overload of `std::string to_text(const T&)` found here or by argument-dependent lookup.
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
  /// The message is meant for people; it is stored in the form that printable() gives it.
  explicit Error(std::string_view message);
  ~Error() override;
  /// Prepends a description of the operation that failed to the message. A handler catches the
  /// error by reference, calls add_context() and rethrows the error, so its type is kept.
  void add_context(std::string_view context);
  /// Replaces the message, in the form that printable() gives it.
  void set_message(std::string_view message);
  /// The name of the innermost layer whose call raised the error, as the message states it; empty
  /// while the message names no layer.
  const std::string& layer() const { return layer_; }
  void set_layer(std::string name) { layer_ = std::move(name); }

 private:
  std::string layer_;
};

/// Thrown when a training run or a long operation is stopped from outside (Ctrl-C); the objects
/// that took part in it stay usable.
class CRESCENT_API Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

/// Thrown for input data that a program rejects, such as an index or a label out of range. Callers
/// that know the number of the batch add it by add_context().
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
/// Returns the shortest text that reads back as the same number ("0.1", "1e-07", "3").
CRESCENT_API std::string to_text(double x);
template <std::integral T>
std::string to_text(T n) {
  return std::to_string(n);
}

/// Concatenates the texts of all pieces.
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string text;
  (text.append(to_text(pieces)), ...);
  return text;
}

/// Throws an Error with this message; `layer` is the layer that the message names (Error::layer).
[[noreturn]] CRESCENT_API void raise_error(std::string_view message, std::string layer = {});

/// Throws an Error whose message is the concatenated text of all pieces.
template <class... Pieces>
[[noreturn]] void fail(const Pieces&... pieces) {
  raise_error(concat(pieces...));
}

/// Raises an error whose message already names the layer. The message of an
/// error raised by fail() gets the name of the layer in front when the error leaves the layer's
/// call.
template <class... Pieces>
[[noreturn]] void fail_in_layer(const std::string& layer, const Pieces&... pieces) {
  raise_error(concat(pieces...), layer);
}

/// Describes the exception that is being handled, for outermost handlers: the message of an Error;
/// for other types a text such as "std::out_of_range: ...", "not enough memory" or "an exception of
/// type int".
CRESCENT_API std::string exception_text();

/// Returns `text` in a form that is safe to print on a terminal: control characters other than new
/// lines and tabs, and bytes that are not valid UTF-8, are escaped as "\x1b" and "\u009b".
/// Printable characters of every language are kept.
CRESCENT_API std::string printable(std::string_view text);

/// Reports a problem that the user should know and that does not stop the operation. The text goes
/// to stderr, or to the handler set by set_warning_handler().
CRESCENT_API void warn_text(std::string_view text);
/// Sets a function that gets warnings in place of stderr; null restores stderr.
CRESCENT_API void set_warning_handler(void (*handler)(std::string_view text));

/// Reports a problem as warn_text() does; the text is the concatenated text of all pieces.
template <class... Pieces>
void warn(const Pieces&... pieces) {
  warn_text(concat(pieces...));
}

/// " (did you mean 'units'?)" when a candidate is near enough to `word`, else "".
CRESCENT_API std::string did_you_mean(std::string_view word,
                                      std::span<const std::string> candidates);
/// The end of a message about an unknown option: did_you_mean() when a candidate is near enough,
/// else "; it takes units, activation" with the options in `listed_options` if these are few, else
/// "".
CRESCENT_API std::string options_hint(std::string_view word,
                                      std::span<const std::string> candidates,
                                      std::span<const std::string> listed_options);

/// Joins words for messages: "dense_1, dense_2, ...".
CRESCENT_API std::string join(std::span<const std::string> words,
                              std::string_view separator = ", ");

}  // namespace crescent
