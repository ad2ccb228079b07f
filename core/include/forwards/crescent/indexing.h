#pragma once
#include "crescent/ops/indexing.h"
