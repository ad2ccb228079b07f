// Who reads what among the steps of a program.
#pragma once
#include <vector>

#include "executor/lower.h"

namespace crescent::cpu {

/// The steps that read each value, as they are when it is made: in order, once for each input.
class Readers {
 public:
  explicit Readers(const Lowered& program) : program_(program), readers_(program.values.size()) {
    for (size_t s = 0; s < program.steps.size(); ++s)
      for (int value : program.steps[s].inputs)
        readers_[static_cast<size_t>(program.root(value))].push_back(s);
  }
  const std::vector<size_t>& of(int value) const {
    return of_root(static_cast<size_t>(program_.root(value)));
  }
  const std::vector<size_t>& of_root(size_t root) const { return readers_[root]; }

 private:
  const Lowered& program_;
  std::vector<std::vector<size_t>> readers_;  ///< per root
};

/// Steps that others have taken over have no kernel: those go.
inline void drop_joined(Lowered& program) {
  std::erase_if(program.steps, [](const Step& step) { return !step.kernel; });
}

}  // namespace crescent::cpu
