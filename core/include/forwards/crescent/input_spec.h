#pragma once
#include "crescent/layer/input_spec.h"
