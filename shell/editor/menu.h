// The menu of what may stand at the cursor.
#pragma once
#include <string>
#include <vector>

#include "screen/screen.h"

namespace crescent::editor {

struct Candidate {
  std::string text, help;
};

/// What may stand at the end of the text before the cursor, from the byte `begin` on.
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
  /// Goes to the next candidate or to the one before, and around at the ends.
  void step(int by);
  /// What stood in the place of the candidates before one was chosen.
  const std::string& typed() const { return typed_; }
  /// As many candidates as there is room for, with a line of help each.
  std::vector<CellRow> rows(size_t most, int columns) const;

 private:
  Completions completions_;
  std::string typed_;
  int chosen_ = -1;
};

/// What all candidates begin with.
std::string common_start(const std::vector<Candidate>& candidates);

}  // namespace crescent::editor
