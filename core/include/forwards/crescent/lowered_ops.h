#pragma once
#include "crescent/device/lowered_ops.h"
