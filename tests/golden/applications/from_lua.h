// Calls cr.applications as a script does.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// The model cr.applications[name](arguments). The numbers in automatic names of layers start again
/// for each model.
ModelPtr application_from_lua(const std::string& name, const Dict& arguments);

}  // namespace crescent::golden
