#pragma once
#include "crescent/tensor/print.h"
