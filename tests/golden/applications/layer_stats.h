// Mean and root mean square of what each layer gives, recorded to find the first that differs.
#pragma once
#include <string>

#include "crescent/crescent.h"

namespace crescent::golden {

/// Nothing when every layer of the model, given x, gives what was recorded ([layer, node, shape,
/// mean, root mean square] each), else what the first one that differs gives. Layers inside others
/// are not looked at.
std::string first_difference(const Model& model, const Tensor& x, const List& recorded);

}  // namespace crescent::golden
