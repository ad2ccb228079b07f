#pragma once
#include "crescent/ops/products.h"
