// Calls whose shapes are worked out before all sizes are known, where the code may compute with
// them: it is run for two numbers in their place, and what comes out alike is known.
#pragma once
#include <functional>

#include "crescent/layer/layer.h"

namespace crescent {

/// What f, which calls the layer, gives for tensors of these dtypes, shapes and masks, all
/// abstract.
Tensors run_with_unknown_sizes(Layer& layer, const std::function<Tensors(const Tensors&)>& f,
                               const Tensors& like);

/// The shapes with -1 again where a number stands for a size that is not known.
std::vector<Shape> without_stand_ins(std::vector<Shape> shapes);

}  // namespace crescent
