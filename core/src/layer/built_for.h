// The input shapes for which layers were built. Models that are not graphs have no other record of
// their input shapes.
#pragma once
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class Layer;

/// The shapes; empty for a layer that is not built, and for a graph, whose inputs have shapes.
std::vector<Shape> built_for(const Layer& layer);
void set_built_for(const Layer& layer, std::vector<Shape> inputs);
/// Called by the destructor of the layer.
void forget_built_for(const Layer& layer);

}  // namespace crescent
