#pragma once
#include "crescent/base/progress.h"
