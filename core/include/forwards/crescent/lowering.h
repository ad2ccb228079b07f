#pragma once
#include "crescent/device/lowering.h"
