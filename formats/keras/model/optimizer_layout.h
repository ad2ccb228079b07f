// In which order a file lists the state of an optimizer. Keras 3 (and tf.keras from 2.11 on) goes
// variable by variable, Keras 1, 2 and the tf.keras before slot by slot, each with exceptions, and
// what is switched off may be there all the same. Nothing here knows of files: names and shapes in,
// places out.
#pragma once
#include <string>
#include <vector>

#include "crescent/layer/optimizer.h"
#include "keras/export.h"

namespace crescent::keras {

/// One entry of such a list.
struct StatePlace {
  Variable variable;  ///< none: Keras keeps something here that says nothing to us
  std::string slot;   ///< "iteration", "learning_rate", "momentum", ...
  TensorSpec spec;    ///< of the entry
  Variable owner{};   ///< the trained variable that a slot belongs to; none for single numbers
  double number = 0;  ///< what is written where there is no variable
};
using StateLayout = std::vector<StatePlace>;

/// What a file for `target` ("keras3" or "keras2") lists, of an optimizer built for `trained`.
CRESCENT_KERAS_API StateLayout optimizer_layout(const Optimizer& optimizer,
                                                const Variables& trained,
                                                const std::string& target);
/// Keras' names of these entries.
CRESCENT_KERAS_API std::vector<std::string> layout_names(const Optimizer& optimizer,
                                                         const StateLayout& layout,
                                                         const std::string& target);

/// Which entry of a file belongs where, or why nobody can tell.
struct PlacedState {
  StateLayout layout;   ///< an entry for each name
  std::string problem;  ///< "" when everything has its place
};
/// `listed` are the trained variables in the order in which the file goes through them. `names` say
/// the generation, and the slots where a Keras names them; numbers alone ("0", "1", as in
/// .weights.h5) stand for Keras 3's order. `specs` are those of the entries.
CRESCENT_KERAS_API PlacedState place_optimizer_state(const Optimizer& optimizer,
                                                     const Variables& trained,
                                                     const Variables& listed,
                                                     const std::vector<std::string>& names,
                                                     const std::vector<TensorSpec>& specs);

}  // namespace crescent::keras
