// The numbers of the calls of models inside a model, in the references [layer, node, tensor] of its
// configuration.
#pragma once
#include "crescent/base/value.h"

namespace crescent::keras {

/// Numbers the calls of nested models from 0. Keras 3 does so, but for functional models in
/// `outputs`; Keras 2 counts from 1. Since all n calls are used, the highest number in a file of
/// Keras 2, n or n - 1, shows how it counts. `layers` are entries whose inbound_nodes were
/// converted; `is_keras3` tells whether they were written in the form of Keras 3.
void count_nested_from_zero(List& layers, List& outputs, bool is_keras3);

/// The outputs of a model for Keras 3, where the calls of graphs in `layers` count from 1.
List outputs_for_keras3(List outputs, const List& layers);

}  // namespace crescent::keras
