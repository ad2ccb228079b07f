// The order of the state of an optimizer in a file. Keras 3 (and tf.keras from 2.11) orders by
// variable, Keras 1 and 2 and earlier tf.keras order by slot, each with exceptions, and some of
// them also store unused slots. This code works on names and shapes, not on files.
#pragma once
#include <string>
#include <vector>

#include "crescent/layer/optimizer.h"
#include "keras/export.h"

namespace crescent::keras {

/// An entry of an optimizer's state in a file of Keras.
struct StateEntry {
  Variable variable;  ///< the variable in Crescent; empty if Crescent does not need the value
  std::string slot;   ///< "iteration", "learning_rate", "momentum", ...
  TensorSpec spec;    ///< the dtype and shape of the entry
  Variable owner{};   ///< the trained variable to which the slot belongs; empty for scalars
  double number = 0;  ///< the value to write if `variable` is empty
};
using StateLayout = std::vector<StateEntry>;

/// The entries that a file for `target_generation` ("keras3" or "keras2") has for an optimizer that
/// was built for the variables `trained_variables`.
CRESCENT_KERAS_API StateLayout optimizer_layout(const Optimizer& optimizer,
                                                const Variables& trained_variables,
                                                const std::string& target_generation);
/// For a LossScaleOptimizer, the entries that a file of Keras 3 has for its inner optimizer alone;
/// none for other optimizers.
CRESCENT_KERAS_API StateLayout inner_optimizer_layout(const Optimizer& optimizer,
                                                      const Variables& trained_variables);
/// The names that the target generation of Keras gives to the entries of `layout`.
CRESCENT_KERAS_API std::vector<std::string> layout_names(const Optimizer& optimizer,
                                                         const StateLayout& layout,
                                                         const std::string& target_generation);

/// The assignment of a file's entries to the variables of an optimizer, or the reason why it is not
/// possible.
struct MatchedState {
  StateLayout layout;   ///< one entry per name in the file
  std::string problem;  ///< "" if all entries are assigned
};
/// Assigns the entries of a file to the variables of an optimizer. `listed_variables` are the
/// trained variables in the order of the file. `names` are the names of the entries: they determine
/// the generation of Keras and for some generations also the slots; names that are numbers ("0",
/// "1", as in .weights.h5) mean the order of Keras 3. `specs` are the dtypes and shapes of the
/// entries.
CRESCENT_KERAS_API MatchedState match_optimizer_state(const Optimizer& optimizer,
                                                      const Variables& trained_variables,
                                                      const Variables& listed_variables,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<TensorSpec>& specs);

}  // namespace crescent::keras
