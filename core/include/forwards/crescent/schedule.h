#pragma once
#include "crescent/layer/schedule.h"
