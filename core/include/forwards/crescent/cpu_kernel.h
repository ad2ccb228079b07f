#pragma once
#include "crescent/device/cpu_kernel.h"
