// What Keras 2.3.1 knows: its classes with their options, and its functions. Whatever is not here
// did not exist then, and 2.3.1 refuses files that name it.
#pragma once
#include <string>
#include <string_view>

namespace crescent::keras {

bool keras2_has_class(std::string_view kind, const std::string& class_name);
/// False too when it has no such class.
bool keras2_has_option(std::string_view kind, const std::string& class_name,
                       const std::string& option);
bool keras2_has_activation(const std::string& name);

}  // namespace crescent::keras
