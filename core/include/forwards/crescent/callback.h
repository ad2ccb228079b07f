#pragma once
#include "crescent/model/callback.h"
