// The menu of completions at the cursor.
#pragma once
#include <string>
#include <vector>

#include "screen/screen.h"

namespace crescent::editor {

struct Candidate {
  std::string text, help;
};

/// Candidates for the text between the byte `begin` and the cursor.
struct Completions {
  size_t begin = 0;
  std::vector<Candidate> candidates;
};

class Menu {
 public:
  bool is_open() const { return !completions_.candidates.empty(); }
  /// The selected candidate; null if none is selected.
  const Candidate* selected_candidate() const;
  size_t begin() const { return completions_.begin; }
  void open(Completions completions, std::string typed_text);
  void close() { completions_ = {}; }
  /// Selects the next candidate (direction = 1) or the previous one (direction = -1); wraps around
  /// at the ends.
  void step(int direction);
  /// The text that the user typed; the selected candidate replaces it.
  const std::string& typed_text() const { return typed_text_; }
  /// At most `max_rows` rows: one for each candidate that fits, with its line of help.
  std::vector<CellRow> rows(size_t max_rows, int columns) const;

 private:
  Completions completions_;
  std::string typed_text_;
  int selected_index_ = -1;
};

/// The longest common prefix of the candidates.
std::string common_start(const std::vector<Candidate>& candidates);

}  // namespace crescent::editor
