#pragma once
#include "crescent/layer/activation.h"
