#pragma once
#include "crescent/ops/ops.h"
