#pragma once
#include "crescent/data/data.h"
