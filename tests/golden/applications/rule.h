// The weights of recorded applications are not stored in files but computed by the rule in
// rule.cpp.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// Checks that the weights have the recorded [path, shape] in order, then sets them by the rule.
void set_weights(Model& model, const List& recorded);

}  // namespace crescent::golden
