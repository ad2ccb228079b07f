#include "plain.h"

#include <unistd.h>

#include <cstdio>

namespace crescent::editor {
namespace {

/// Appends a line of standard input without its newline; returns false at the end of the input.
/// Reads without a buffer, because code that runs between two entries may read the same stream.
bool read_line(std::string& text) {
  const size_t old_size = text.size();
  int c;
  while ((c = std::getc(stdin)) != EOF && c != '\n') text += static_cast<char>(c);
  if (text.size() > old_size && text.back() == '\r') text.pop_back();
  return c != EOF || text.size() > old_size;
}

}  // namespace

Editor::Result read_plain(const Callbacks& callbacks, const Settings& settings,
                          std::string& entry) {
  entry.clear();
  std::fputs(callbacks.news().c_str(), stdout);
  for (const std::string* prompt = &settings.prompts.first;; prompt = &settings.prompts.next) {
    std::fputs(prompt->c_str(), stdout);
    std::fflush(stdout);
    const bool is_continuation = prompt == &settings.prompts.next;
    if (is_continuation) entry += '\n';
    const bool has_line = read_line(entry);
    if (settings.is_stopped()) return Editor::Result::interrupted;
    if (!has_line) {
      std::clearerr(stdin);
      if (!is_continuation) return Editor::Result::end;
      return isatty(settings.input) ? Editor::Result::interrupted : Editor::Result::entry;
    }
    if (callbacks.is_complete(entry)) return Editor::Result::entry;
  }
}

}  // namespace crescent::editor
