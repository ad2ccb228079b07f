#pragma once
#include "crescent/tensor/tensor.h"
