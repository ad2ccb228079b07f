// cr.utils.timeseries_dataset_from_array: windows over the rows of a time series.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

CallablePtr timeseries_function();

}  // namespace crescent::lua
