#pragma once
#include "crescent/tensor/variable.h"
