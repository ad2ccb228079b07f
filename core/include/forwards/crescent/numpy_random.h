#pragma once
#include "crescent/data/numpy_random.h"
