#pragma once
#include "crescent/ops/arguments.h"
