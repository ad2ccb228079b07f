#pragma once
#include "crescent/device/quantized_op_types.h"
