#pragma once
#include "crescent/ops/fourier.h"
