#pragma once
#include "crescent/layer/training.h"
