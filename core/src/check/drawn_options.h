// Options for objects of a class that is checked, where the user has given none.
#pragma once
#include "crescent/registry/schema.h"

namespace crescent::check {

/// Values for the required options that are not in `given`: numbers within their bounds, the first
/// of several choices, a name of a built-in class. Options of other types are left out.
Dict draw_options(const SchemaData& schema, const Dict& given);

}  // namespace crescent::check
