#include "sources.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "crescent/base/error.h"
#include "lua_tokens.h"
#include "traceback.h"

namespace crescent::program {
namespace {

constexpr size_t kMaxSources = 1000, kMaxColumns = 90, kMaxBytes = 10'000'000;

struct Source {
  std::string name, text;
};
std::deque<Source>& sources() {
  static std::deque<Source> stored_sources;
  return stored_sources;
}

std::string contents_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  if (std::filesystem::file_size(path, error) > kMaxBytes) return "";
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string source_named(const std::string& name) {
  const auto it = std::find_if(sources().rbegin(), sources().rend(),
                               [&](const Source& source) { return source.name == name; });
  return it != sources().rend() ? it->text : contents_of_file(name);
}

/// The source of the chunk whose name is at the end of `words`, the text before a colon in a
/// message. If several names fit, the longest counts.
std::string source_before(std::string_view words) {
  for (;;) {
    std::string source = source_named(std::string(words));
    const size_t space = words.find(' ');
    if (!source.empty() || space == words.npos) return source;
    words.remove_prefix(space + 1);
  }
}

std::string line_of(std::string_view text, size_t number) {
  size_t begin = 0;
  for (size_t i = 1; i < number && begin < text.size(); ++i)
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  return std::string(text.substr(begin, text.find('\n', begin) - begin));
}

std::string_view text_between(std::string_view text, std::string_view prefix,
                              std::string_view suffix) {
  const size_t position = text.find(prefix);
  if (position == text.npos) return "";
  const size_t begin = position + prefix.size();
  return text.substr(begin, text.find(suffix, begin) - begin);
}

/// The name that an error message of Lua quotes after a word such as "global" or "field".
std::string_view quoted_word(std::string_view message) {
  for (const char* kind : {"global", "local", "upvalue", "field", "method", "constant"})
    if (const auto word = text_between(message, concat("(", kind, " '"), "')"); !word.empty())
      return word;
  return text_between(message, " near '", "'");
}

/// The column at which the word is a whole token of the line; npos unless it occurs exactly once.
size_t column_of(std::string_view line, std::string_view word) {
  size_t column = line.npos;
  for (size_t offset = 0; offset < line.size();) {
    const LuaToken token = lua_token_at(line, offset);
    const bool is_word = line.substr(offset, token.end - offset) == word;
    if (is_word && column != line.npos) return line.npos;
    if (is_word) column = offset;
    offset = token.end;
  }
  return column;
}

/// The last source location in a line of a message, which is the place where the error was raised.
SourceLocation location_in(std::string_view message) {
  SourceLocation location;
  size_t begin = 0;
  for (size_t colon = message.find(':'); colon != message.npos;
       colon = message.find(':', colon + 1)) {
    const size_t end = message.find_first_not_of("0123456789", colon + 1);
    if (end == colon + 1 || end == message.npos || message[end] != ':' || end - colon > 9) continue;
    std::string source = source_before(message.substr(begin, colon - begin));
    if (source.empty()) continue;
    const std::string number(message.substr(colon + 1, end - colon - 1));
    location = {std::move(source), std::stoul(number)};
    begin = end + 1;
  }
  return location;
}

}  // namespace

void remember_source(std::string name, std::string text) {
  if (sources().size() >= kMaxSources) sources().pop_front();
  sources().push_back({std::move(name), std::move(text)});
}

SourceLocation location_of(std::string_view message) {
  const size_t traceback_begin = message.find(kTraceback);
  SourceLocation location = location_in(message.substr(0, message.find('\n')));
  if (location.line > 0 || traceback_begin == message.npos) return location;
  const std::string_view innermost_call = message.substr(traceback_begin + kTraceback.size() + 2);
  return location_in(innermost_call.substr(0, innermost_call.find('\n')));
}

std::string line_at(const SourceLocation& location) {
  return location.line > 0 ? line_of(location.source, location.line) : "";
}

std::string offending_line(std::string_view message, const SourceLocation& location) {
  std::string line = line_at(location);
  line.erase(0, line.find_first_not_of(" \t"));
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (line.empty()) return "";
  const std::string_view word = quoted_word(message);
  const size_t column = word.empty() ? line.npos : column_of(line, word);
  if (line.size() > kMaxColumns) line = line.substr(0, kMaxColumns) + "...";
  line = "\n    " + line;
  if (column >= kMaxColumns) return line;
  return line + "\n    " + std::string(column, ' ') + std::string(word.size(), '^');
}

}  // namespace crescent::program
