#pragma once
#include "crescent/layer/layer.h"
