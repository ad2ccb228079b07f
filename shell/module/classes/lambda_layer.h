// Lambda is a layer that calls a Lua function. Model files contain only the name of the function;
// the function must be given when loading.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent::lua {

void register_lambda_layer(Registry& registry);

/// The functions of all Lambda layers inside `owner`; the keys are the names that configurations
/// use.
Dict functions_of_lambdas(Layer& owner);

}  // namespace crescent::lua
