// Shape inference for layers that compute with sizes that are still unknown. The code of the layer
// runs several times with different numbers in place of the unknown sizes; the sizes that are equal
// in all results are known.
#pragma once
#include <functional>

#include "crescent/layer/layer.h"

namespace crescent {

/// Runs f, which calls the layer, on abstract tensors with the dtypes, shapes and masks of
/// `examples`, and returns the abstract results of f.
Tensors run_with_unknown_sizes(Layer& layer, const std::function<Tensors(const Tensors&)>& f,
                               const Tensors& examples);

/// Replaces each size that stood for an unknown size by -1.
std::vector<Shape> without_stand_ins(std::vector<Shape> shapes);

}  // namespace crescent
