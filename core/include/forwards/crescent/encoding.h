#pragma once
#include "crescent/data/encoding.h"
