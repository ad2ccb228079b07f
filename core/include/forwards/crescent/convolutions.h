#pragma once
#include "crescent/ops/convolutions.h"
