#pragma once
#include "crescent/data/images.h"
