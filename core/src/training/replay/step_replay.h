// Computes a recorded step again: continues the run from a backup before the step, compares each
// step with the record, and ends the process with a verdict.
#pragma once
#include "system/replay_task.h"
#include "training/replay/record.h"

namespace crescent {

class StepReplay {
 public:
  /// Restores the run from the last backup before the step of the task. A failure ends the process.
  StepReplay(const ReplayTask& task, TrainingRun& run);
  /// The step after which the backup was written.
  int64_t backup_step() const { return backup_step_; }
  /// Whether the record contains the step.
  bool has_step(int64_t step) const { return recorded_step(step) != nullptr; }
  /// Compares a step with the record, which must contain it. Ends the process if they differ or if
  /// the step is that of the task.
  void compare(const RecordedStep& new_step, Model& model) const;
  /// Ends the process because the run has ended after `last_step`, before the step of the task.
  [[noreturn]] void end_without_step(int64_t last_step) const;

 private:
  const RecordedStep* recorded_step(int64_t step) const;
  void compare_variables(const RecordedStep& old_step, const RecordedStep& new_step,
                         Model& model) const;
  std::string largest_difference_text(int64_t step, size_t variable_index, Model& model) const;
  [[noreturn]] void end_with_difference(int64_t step, const std::string& text) const;

  const ReplayTask& task_;
  int64_t backup_step_;
  Record record_;
};

}  // namespace crescent
