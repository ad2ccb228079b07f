// StatelessScope: computation without side effects on variables, like the class of this name in
// Keras. Layers, optimizers and metrics compute with given values in place of those of their
// variables, also under a GradientTape and while a program is recorded.
//
//   StatelessScope scope({{weight, candidate}});
//   Tensor loss = ops::mean(ops::square((*model)(x) - y));    // computed with the candidate
//   Tensor next_mean = scope.current_value(moving_mean);      // the variable itself is unchanged
#pragma once
#include <unordered_map>
#include <utility>
#include <vector>

#include "crescent/tensor/variable.h"

namespace crescent {

/// While an object of this class lives, variables that this thread reads have the values of the
/// scope, and assignments change these values instead of the variables. Of nested scopes the
/// innermost one is in effect; a variable that it does not contain has its own value.
class CRESCENT_API StatelessScope {
 public:
  using Mapping = std::vector<std::pair<Variable, Tensor>>;
  /// Values are cast to the dtypes of their variables. Fails for a value whose shape is not that of
  /// its variable, and for a variable that is divided among processes.
  explicit StatelessScope(const Mapping& state_mapping = {});
  ~StatelessScope();
  StatelessScope(const StatelessScope&) = delete;
  /// The value that was assigned last within the scope, or else that of the mapping; an empty
  /// Tensor for a variable that has neither.
  Tensor current_value(const Variable& variable) const;
  /// The current values of variables. For a variable without a value in the scope, this is the
  /// value of the variable itself.
  Tensors current_values(const Variables& variables) const;

 private:
  friend struct StatelessAccess;
  StatelessScope* outer_;
  const void* recorder_;  ///< the trace in which the scope was made, or null
  std::unordered_map<const void*, std::pair<Variable, Tensor>> values_;
};

}  // namespace crescent
