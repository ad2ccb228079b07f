// Mean and root mean square of each layer's output, recorded to find the first layer that differs.
#pragma once
#include <string>

#include "crescent/crescent.h"

namespace crescent::golden {

/// Empty if every layer of the model, given x, has the recorded statistics ([layer, node, shape,
/// mean, root mean square] each), else a description of the first layer that differs. Nested layers
/// are not compared.
std::string first_difference(const Model& model, const Tensor& x, const List& recorded);

}  // namespace crescent::golden
