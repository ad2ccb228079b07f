// cr.applications, as a script calls it.
#pragma once
#include "crescent/crescent.h"

namespace crescent::golden {

/// cr.applications[name](arguments), with names of layers counted from the first.
ModelPtr application_from_lua(const std::string& name, const Dict& arguments);

}  // namespace crescent::golden
