#pragma once
#include "crescent/base/export.h"
