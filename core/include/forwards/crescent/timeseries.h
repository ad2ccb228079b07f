#pragma once
#include "crescent/data/timeseries.h"
