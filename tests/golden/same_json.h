// Compares configurations that Crescent writes with those of Keras.
#pragma once
#include <set>
#include <string>

#include "crescent/base/value.h"

namespace crescent::golden {

/// The paths where two configurations differ, "config/layers/1/config/units: 3 instead of 4".
/// Default values may be missing.
std::set<std::string> differences(const Value& ours, const Value& keras, const std::string& place);

}  // namespace crescent::golden
