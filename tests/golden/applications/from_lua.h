// Calls cr.applications as a script does.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// The model cr.applications[name](arguments); automatic names of layers count from the first one.
ModelPtr application_from_lua(const std::string& name, const Dict& arguments);

}  // namespace crescent::golden
