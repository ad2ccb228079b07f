#pragma once
#include "crescent/model/inspection.h"
