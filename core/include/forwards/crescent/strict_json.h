#pragma once
#include "crescent/base/strict_json.h"
