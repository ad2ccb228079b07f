// The input shapes that layers were built for. A model without symbols has no other record of its
// input shapes.
#pragma once
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class Layer;

/// Empty for a layer that is not built, and for a graph, whose inputs have shapes.
std::vector<Shape> built_for(const Layer& layer);
void set_built_for(const Layer& layer, std::vector<Shape> inputs);
/// Called by the destructor of the layer.
void forget_built_for(const Layer& layer);

}  // namespace crescent
