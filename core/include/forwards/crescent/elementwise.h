#pragma once
#include "crescent/ops/elementwise.h"
