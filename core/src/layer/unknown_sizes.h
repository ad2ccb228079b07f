// Shape inference through code that computes with sizes which are still unknown: the code runs
// several times with different numbers in their place, and the dims that agree in all results
// count as known.
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
