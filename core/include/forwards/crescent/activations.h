#pragma once
#include "crescent/ops/activations.h"
