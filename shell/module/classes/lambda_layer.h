// Lambda: a function as a layer. The function is never stored: a file holds its name, and loading
// asks for it.
#pragma once

namespace crescent::lua {

void register_lambda_layer();

}  // namespace crescent::lua
