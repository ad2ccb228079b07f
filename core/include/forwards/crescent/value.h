#pragma once
#include "crescent/base/value.h"
