#pragma once
#include "crescent/model/check.h"
