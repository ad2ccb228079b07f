#pragma once
#include "crescent/model/flops.h"
