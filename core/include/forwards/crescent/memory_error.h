#pragma once
#include "crescent/base/memory_error.h"
