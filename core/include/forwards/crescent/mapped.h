#pragma once
#include "crescent/base/mapped.h"
