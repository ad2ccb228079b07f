#pragma once
#include "crescent/layer/loss.h"
