// Readers: which steps of a program read each value.
#pragma once
#include <vector>

#include "executor/schedule.h"

namespace crescent::cpu {

/// The steps that read each value, in order; a step that has the value as several inputs is listed
/// several times. Later changes of the schedule are not taken into account.
class Readers {
 public:
  explicit Readers(const Schedule& schedule)
      : schedule_(schedule), readers_(schedule.values.size()) {
    for (size_t s = 0; s < schedule.steps.size(); ++s)
      for (int value : schedule.steps[s].inputs) readers_[schedule.root(value)].push_back(s);
  }
  const std::vector<size_t>& of(int value) const { return of_root(schedule_.root(value)); }
  const std::vector<size_t>& of_root(size_t root) const { return readers_[root]; }

 private:
  const Schedule& schedule_;
  std::vector<std::vector<size_t>> readers_;  ///< for each root value, its readers
};

/// Erases the steps without a kernel, which were joined with other steps.
inline void drop_joined(Schedule& schedule) {
  std::erase_if(schedule.steps, [](const Step& step) { return !step.kernel; });
}

}  // namespace crescent::cpu
