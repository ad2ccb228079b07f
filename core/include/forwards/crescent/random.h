#pragma once
#include "crescent/ops/random.h"
