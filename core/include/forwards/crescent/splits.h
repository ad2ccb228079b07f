#pragma once
#include "crescent/data/splits.h"
