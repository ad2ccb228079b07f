// What we write beside what Keras wrote.
#pragma once
#include <set>
#include <string>

#include "crescent/base/value.h"

namespace crescent::golden {

/// Places where two configurations say different things, "config/layers/1/config/units: 3 instead
/// of 4". What goes without saying may be left out.
std::set<std::string> differences(const Value& ours, const Value& keras, const std::string& place);

}  // namespace crescent::golden
