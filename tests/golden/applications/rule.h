// The weights of recorded applications are not in the files but follow a rule, which rule.cpp
// states.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// The weights are those of Keras, [path, shape] each, by number and shape; then they follow the
/// rule.
void set_weights(Model& model, const List& recorded);

}  // namespace crescent::golden
