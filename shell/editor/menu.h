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
  /// The candidate that is chosen; null before one is.
  const Candidate* chosen() const;
  size_t begin() const { return completions_.begin; }
  void open(Completions completions, std::string typed);
  void close() { completions_ = {}; }
  /// Moves to the next candidate or to the previous one; wraps around at the ends.
  void step(int by);
  /// The text that was typed, which a chosen candidate replaces.
  const std::string& typed() const { return typed_; }
  /// The rows of as many candidates as fit, each with a line of help.
  std::vector<CellRow> rows(size_t most, int columns) const;

 private:
  Completions completions_;
  std::string typed_;
  int chosen_ = -1;
};

/// The longest common prefix of the candidates.
std::string common_start(const std::vector<Candidate>& candidates);

}  // namespace crescent::editor
