#pragma once
#include "crescent/model/steps.h"
