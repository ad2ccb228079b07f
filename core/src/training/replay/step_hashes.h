// Hashes of the batch of a training step and of all variables after it. They are the same on every
// machine, and for any number of processes that share the batch.
#pragma once
#include "training/run_state.h"
#include "training/variable_groups.h"

namespace crescent {

/// The variables of a snapshot of the run, in its order.
std::vector<VariableGroup> variables_of_snapshot(Model& model);
/// The values of one of these variables in a snapshot, by its place among all of them.
Tensor value_in(const Dict& snapshot, Model& model, size_t place);
/// The name and the spec ("float32(3, 4)") of a variable. The name is the path of a weight; that of
/// others begins with the name of their group and their owner.
struct VariableSpec {
  std::string name, spec;
  bool operator==(const VariableSpec&) const = default;
};
using VariableSpecs = std::vector<VariableSpec>;

/// What is recorded of a step.
struct RecordedStep {
  int64_t step = 0, epoch = 0, batch = 0;  ///< from 1; `step` counts through all epochs
  Dict data;                               ///< hashes of the batch, by what they are of
  std::shared_ptr<const VariableSpecs> variables;
  std::string hashes;  ///< of each variable after the step, kHashDigits digits each
  Dict logs;
};
inline constexpr size_t kHashDigits = 16;

/// The hashes of the last batch of a run: of the indices of its rows in the data, where they are
/// known, of inputs, targets and sample weights. All processes that share the batch must call this
/// function.
Dict batch_hashes(const TrainingRun::State& run);

class StepHasher {
 public:
  /// Adds the hashes of all variables of the model.
  void add_variables(RecordedStep& step, Model& model);

 private:
  Variables variables_;  ///< those that specs_ describes
  std::shared_ptr<const VariableSpecs> specs_;
};

}  // namespace crescent
