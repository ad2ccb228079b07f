// Options for objects of a class that is checked, where the user has given none.
#pragma once
#include <string>

#include "crescent/registry/schema.h"

namespace crescent::check {

/// Values for the required options of the class that are not in `option_values`: numbers within
/// their bounds, the first of several choices, a name of a built-in class. For options whose type
/// is "anything", several values, a layer among them, are tried until an object can be made.
/// Options of other types are left out.
Dict draw_options(const std::string& kind, const std::string& class_name,
                  const Dict& option_values);

}  // namespace crescent::check
