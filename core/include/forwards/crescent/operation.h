#pragma once
#include "crescent/layer/operation.h"
