#pragma once
#include "crescent/ops/reductions.h"
