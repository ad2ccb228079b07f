#pragma once
#include "crescent/base/error.h"
