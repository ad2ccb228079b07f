// JSON for programs that read only what the standard defines. Files in the formats of Keras are
// written by to_json (value.h) instead, which writes NaN and Infinity as Python does.
#pragma once
#include <string>

#include "crescent/base/value.h"

namespace crescent {

/// Writes the value in one line as to_json() does, but null for NaN and infinite numbers, which
/// JSON does not have.
CRESCENT_API std::string to_strict_json(const Value& value);

}  // namespace crescent
