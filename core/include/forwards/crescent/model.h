#pragma once
#include "crescent/model/model.h"
