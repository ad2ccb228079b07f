#pragma once
#include "crescent/registry/stamp.h"
