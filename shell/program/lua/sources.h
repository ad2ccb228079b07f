// The source texts to which error messages refer: files, and chunks that are not in files.
#pragma once
#include <string>
#include <string_view>

namespace crescent::program {

/// Stores the source of a chunk that is not in a file, such as an entry of the prompt. Only the
/// last thousand sources are kept.
void remember_source(std::string name, std::string text);

/// A location in a message: "[5]:2" or "train.lua:12".
struct SourceLocation {
  std::string source;  ///< the source text; empty if it is unknown
  size_t line = 0;     ///< line number, from 1; 0 if there is no location
};
/// The innermost location in the first line of a message; if there is none, the location of the
/// innermost call in its traceback.
SourceLocation location_of(std::string_view message);

/// The source line at the location; empty if it is unknown.
std::string line_at(const SourceLocation& location);

/// The source line at the location, with a mark below the word that the message quotes, if the word
/// occurs once in the line. Empty if the source is unknown.
std::string offending_line(std::string_view message, const SourceLocation& location);

}  // namespace crescent::program
