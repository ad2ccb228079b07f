// Lambda: a function as a layer. The function is never stored: a file holds its name, and loading
// asks for it.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent::lua {

void register_lambda_layer();

/// The functions of the Lambda layers in a layer, under the names that configurations have for
/// them.
Dict functions_of_lambdas(Layer& owner);

}  // namespace crescent::lua
