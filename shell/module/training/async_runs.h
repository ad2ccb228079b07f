// Training in the background: model:fit_async.
#pragma once
#include <vector>

#include "classes/object_types.h"
#include "crescent/model/model.h"

namespace crescent::lua {

void add_async_runs(ObjectTypes& types, const HandleType& object);
void add_fit_async(HandleType& model);

/// The function cr.sleep.
const std::vector<CallablePtr>& async_functions();

}  // namespace crescent::lua
