#pragma once
#include "crescent/model/rewire.h"
