// The mean and root mean square of each layer's output, recorded in order to find the first layer
// that differs.
#pragma once
#include <string>

#include "crescent/crescent.h"

namespace crescent::golden {

/// Compares the statistics of each layer's output for x with the recorded ones ([layer, node,
/// shape, mean, root mean square] each). Returns an empty string, or the text about the first layer
/// that differs. Layers inside other layers are not compared.
std::string first_difference(const Model& model, const Tensor& x, const List& recorded);

}  // namespace crescent::golden
