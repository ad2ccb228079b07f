#pragma once
#include "crescent/data/known_datasets.h"
