// Hashes of the batch of a training step, and of all variables after the step. They are the same on
// every machine, and for any number of processes that share the batch.
#pragma once
#include "training/run_state.h"
#include "training/variable_groups.h"

namespace crescent {

/// Returns the variables that a snapshot of the run contains, in the order of the snapshot.
std::vector<VariableGroup> variables_of_snapshot(Model& model);
/// Returns the value of one of these variables in a snapshot; `index` is its index among all of
/// them.
Tensor value_in(const Dict& snapshot, Model& model, size_t index);
/// The name and the spec ("float32(3, 4)") of a variable. The name of a weight is its path; other
/// names begin with the name of the group and the owner of the variable.
struct VariableSpec {
  std::string name, spec;
  bool operator==(const VariableSpec&) const = default;
};
using VariableSpecs = std::vector<VariableSpec>;

/// The entry of a step in a record.
struct RecordedStep {
  int64_t step = 0, epoch = 0, batch = 0;  ///< all count from 1; `step` counts through all epochs
  Dict data;                               ///< the result of batch_hashes()
  std::shared_ptr<const VariableSpecs> variables;
  std::string hashes;  ///< a hash of each variable after the step, with kHashDigits digits each
  Dict logs;
};
inline constexpr size_t kHashDigits = 16;

/// Returns hashes of the last batch of a run: of its inputs, targets and sample weights and, where
/// they are known, of the indices of its rows in the data. All processes that share the batch must
/// call this function.
Dict batch_hashes(const TrainingRun::State& run);

class StepHasher {
 public:
  /// Adds the hashes of all variables of the model to the step.
  void add_variables(RecordedStep& step, Model& model);

 private:
  Variables variables_;  ///< the variables that specs_ describes
  std::shared_ptr<const VariableSpecs> specs_;
};

}  // namespace crescent
