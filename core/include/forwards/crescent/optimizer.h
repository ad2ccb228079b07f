#pragma once
#include "crescent/layer/optimizer.h"
