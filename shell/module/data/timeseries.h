// cr.utils.timeseries_dataset_from_array: windows over rows that follow each other in time.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

CallablePtr timeseries_function();

}  // namespace crescent::lua
