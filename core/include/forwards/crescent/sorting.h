#pragma once
#include "crescent/ops/sorting.h"
