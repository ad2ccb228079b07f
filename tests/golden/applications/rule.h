// The weights of recorded applications are not stored; they are computed by a rule, which rule.cpp
// defines.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// Checks that the weights have the recorded paths and shapes, [path, shape] each, and sets them by
/// the rule.
void set_weights(Model& model, const List& recorded);

}  // namespace crescent::golden
