// The texts that messages are about: of files, and of chunks that are in none.
#pragma once
#include <string>
#include <string_view>

namespace crescent::program {

/// Remembers the text of a chunk that is in no file, as an entry of the prompt; of the last
/// thousand.
void remember_source(std::string name, std::string text);

/// A place as messages name it: "[5]:2" or "train.lua:12".
struct SourceLocation {
  std::string source;  ///< the text; empty when there is none
  size_t line = 0;     ///< from 1
};
/// The innermost place that the first line of a message names, else that of the innermost call in
/// the traceback behind it.
SourceLocation location_of(std::string_view message);

/// The line that the message is about, with a mark below what the message speaks of where that
/// stands once in the line. Empty without one.
std::string offending_line(std::string_view message, const SourceLocation& location);

}  // namespace crescent::program
