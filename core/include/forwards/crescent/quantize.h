#pragma once
#include "crescent/model/quantize.h"
