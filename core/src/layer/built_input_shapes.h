// The input shapes for which layers were built. Models that are not graphs have no other record of
// their input shapes.
#pragma once
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class Layer;

/// Returns the input shapes for which the layer was built. Returns an empty list for a layer that
/// is not built, and for a functional model, because its Input layers declare the shapes.
std::vector<Shape> built_input_shapes(const Layer& layer);
void set_built_input_shapes(const Layer& layer, std::vector<Shape> shapes);
/// Forgets the input shapes of the layer. The destructor of Layer calls this function.
void forget_built_input_shapes(const Layer& layer);

}  // namespace crescent
