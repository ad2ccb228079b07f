#pragma once
#include "crescent/registry/option_types.h"
