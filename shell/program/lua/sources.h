// The sources to which error messages refer: of files, and of chunks that are not in files.
#pragma once
#include <string>
#include <string_view>

namespace crescent::program {

/// Remembers the source of a chunk that is not in a file, such as an entry of the prompt. The last
/// thousand are kept.
void remember_source(std::string name, std::string text);

/// A location in a message: "[5]:2" or "train.lua:12".
struct SourceLocation {
  std::string source;  ///< the source text; empty if it is unknown
  size_t line = 0;     ///< line number, from 1; 0 without a location
};
/// The innermost location in the first line of a message, else that of the innermost call in the
/// traceback after it.
SourceLocation location_of(std::string_view message);

/// The line at the location, with a mark below the word that the message is about, if it occurs
/// once in the line. Empty if the source is unknown.
std::string offending_line(std::string_view message, const SourceLocation& location);

}  // namespace crescent::program
