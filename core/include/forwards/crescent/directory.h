#pragma once
#include "crescent/data/directory.h"
