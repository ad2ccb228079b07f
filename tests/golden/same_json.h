// Compares configurations that Crescent writes with those of Keras.
#pragma once
#include <set>
#include <string>

#include "crescent/base/value.h"

namespace crescent::golden {

/// The differences of two configurations, as texts such as "config/layers/1/config/units: 3 instead
/// of 4". Keys with default values may be missing.
std::set<std::string> differences(const Value& written, const Value& keras,
                                  const std::string& location);

}  // namespace crescent::golden
