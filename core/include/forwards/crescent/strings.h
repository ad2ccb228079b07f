#pragma once
#include "crescent/tensor/strings.h"
