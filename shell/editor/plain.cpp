#include "plain.h"

#include <unistd.h>

#include <cstdio>

namespace crescent::editor {
namespace {

/// Appends a line of standard input without its newline; returns false at the end of the input.
/// Reads without a buffer, because code that runs between two entries may read the same stream.
bool read_line(std::string& text) {
  const size_t before = text.size();
  int c;
  while ((c = std::getc(stdin)) != EOF && c != '\n') text += static_cast<char>(c);
  if (text.size() > before && text.back() == '\r') text.pop_back();
  return c != EOF || text.size() > before;
}

}  // namespace

Editor::Result read_plain(const Callbacks& callbacks, const Settings& settings,
                          std::string& entry) {
  entry.clear();
  std::fputs(callbacks.news().c_str(), stdout);
  for (const std::string* prompt = &settings.prompts.first;; prompt = &settings.prompts.next) {
    std::fputs(prompt->c_str(), stdout);
    std::fflush(stdout);
    const bool begun = prompt == &settings.prompts.next;
    if (begun) entry += '\n';
    const bool read = read_line(entry);
    if (settings.is_stopped()) return Editor::Result::interrupted;
    if (!read) {
      std::clearerr(stdin);
      if (!begun) return Editor::Result::end;
      return isatty(settings.input) ? Editor::Result::interrupted : Editor::Result::entry;
    }
    if (callbacks.is_complete(entry)) return Editor::Result::entry;
  }
}

}  // namespace crescent::editor
