// Texts about parameters that many functions share, such as axis and keepdims.
#pragma once
#include <string_view>

namespace crescent::lua {

/// The text about a parameter of a function, for a parameter whose declaration has none; empty if
/// there is none either. `function` is the function's name without a path, as in "quantile".
std::string_view parameter_text(std::string_view function, std::string_view parameter,
                                std::string_view type);

}  // namespace crescent::lua
