#pragma once
#include "crescent/layer/weight_rules.h"
