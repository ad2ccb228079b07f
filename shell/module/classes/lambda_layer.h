// Lambda is a layer of a function. Files contain only the name of the function, which must be given
// when loading.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent::lua {

void register_lambda_layer();

/// The functions of all Lambda layers in a layer, under their names in configurations.
Dict functions_of_lambdas(Layer& owner);

}  // namespace crescent::lua
