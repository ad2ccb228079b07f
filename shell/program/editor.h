// Editing of lines at a terminal: history that lasts, completion, Ctrl-C to start again.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace crescent::program {

struct Completion {
  std::vector<std::string> names;
  size_t typed = 0;  ///< characters before the cursor that the names replace
};

class Editor {
 public:
  enum class Result { line, interrupted, end };
  /// What may stand at the end of the text before the cursor.
  using Complete = std::function<Completion(const std::string& text)>;

  /// Without a terminal, lines are read as they come.
  explicit Editor(Complete complete);
  ~Editor();
  Result read(const std::string& prompt, std::string& line);
  void remember(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace crescent::program
