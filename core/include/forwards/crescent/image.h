#pragma once
#include "crescent/ops/image.h"
