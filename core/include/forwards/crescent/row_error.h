#pragma once
#include "crescent/device/row_error.h"
