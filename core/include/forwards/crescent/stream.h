#pragma once
#include "crescent/data/stream.h"
