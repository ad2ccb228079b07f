#pragma once
#include "crescent/base/pattern.h"
