// Shapes of the inputs that layers were built for: of a model without symbols nothing else says
// what it takes.
#pragma once
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class Layer;

/// None for a layer that is not built, and for a graph, which has its inputs.
std::vector<Shape> built_for(const Layer& layer);
void set_built_for(const Layer& layer, std::vector<Shape> inputs);
/// When the layer ends.
void forget_built_for(const Layer& layer);

}  // namespace crescent
