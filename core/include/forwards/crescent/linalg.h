#pragma once
#include "crescent/ops/linalg.h"
