#pragma once
#include "crescent/ops/shapes.h"
