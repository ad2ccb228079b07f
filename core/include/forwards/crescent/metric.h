#pragma once
#include "crescent/layer/metric.h"
