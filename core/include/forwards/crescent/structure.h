#pragma once
#include "crescent/base/structure.h"
