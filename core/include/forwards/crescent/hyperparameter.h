#pragma once
#include "crescent/search/hyperparameter.h"
