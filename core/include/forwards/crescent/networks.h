#pragma once
#include "crescent/ops/networks.h"
