#pragma once
#include "crescent/tensor/with_type.h"
