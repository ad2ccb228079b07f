#pragma once
#include "crescent/ops/draws.h"
