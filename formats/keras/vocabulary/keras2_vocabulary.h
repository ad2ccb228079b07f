// The classes of Keras 2.3.1 with their options, and its functions. Keras 2.3.1 refuses files that
// contain other classes, options or functions.
#pragma once
#include <string>
#include <string_view>

namespace crescent::keras {

bool keras2_has_class(std::string_view kind, const std::string& class_name);
/// Whether Keras 2.3.1 has the class, and the class has the option.
bool keras2_has_option(std::string_view kind, const std::string& class_name,
                       const std::string& option);
bool keras2_has_activation(const std::string& name);

}  // namespace crescent::keras
