// An editor for entries that the user types at a terminal. An entry is a block of lines that are
// edited together. The editor knows nothing about the language of the entry: callbacks say when it
// is complete, and give its colours, hints and completions.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "menu.h"
#include "screen/layout.h"

namespace crescent::editor {

struct Callbacks {
  /// Whether the text is a complete entry: Enter then ends the entry, else it begins another line.
  std::function<bool(const std::string& text)> is_complete;
  /// A style for each byte of the text, with the bracket at the cursor and its partner marked. With
  /// a cursor of npos no brackets are marked.
  std::function<std::vector<Style>(const std::string& text, size_t cursor)> colours;
  /// A line to show below the text, such as the parameters of the function that is being called.
  std::function<std::string(const std::string& text, size_t cursor)> hint;
  std::function<Completions(const std::string& text, size_t cursor)> completions;
  /// Lines to show above the text, each with a newline. The editor asks for them when an entry
  /// begins and after wake_editor().
  std::function<std::string()> news = [] { return std::string(); };
};

struct Settings {
  int input = 0, output = 1;
  Prompts prompts;
  std::string history;  ///< the path of the history file; if empty, the history is only kept in
                        ///< memory
  /// Returns true after a signal that ends reading has arrived; called while signals are blocked.
  std::function<bool()> is_stopped = [] { return false; };
};

class Editor {
 public:
  enum class Result {
    entry,
    interrupted,  ///< reading was interrupted by Ctrl-C or a signal
    end
  };

  Editor(Callbacks callbacks, Settings settings);
  ~Editor();
  /// False if input or output is not a terminal, or the terminal cannot move its cursor.
  bool can_edit() const;
  /// Reads an entry. If input or output is not a terminal, or the terminal cannot move its cursor,
  /// reads plain lines without editing.
  Result read(std::string& entry);
  void set_prompts(Prompts prompts) { settings_.prompts = std::move(prompts); }

 private:
  class Session;
  Callbacks callbacks_;
  Settings settings_;
  std::unique_ptr<Session> session_;
};

/// Wakes an editor that is waiting for keys, so that it asks for news. Any thread may call it.
void wake_editor();

}  // namespace crescent::editor
