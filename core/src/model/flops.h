// The floating-point operations of the layers of a model.
#pragma once
#include <map>
#include <string>

#include "crescent/model/flops.h"

namespace crescent {

/// The floating-point operations of a forward pass with one sample, by path of the layer within the
/// model ("encoder/dense_1"); the path of the model itself is "".
using LayerFlops = std::map<std::string, double>;

/// Returns the operations of each layer; fails where a size of an input is unknown.
LayerFlops flops_by_layer(const Model& model);
/// The operations of the layer at `path` and of the layers inside it.
double flops_of_subtree(const LayerFlops& flops, const std::string& path);

}  // namespace crescent
