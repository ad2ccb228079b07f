#pragma once
#include "crescent/layer/stateless.h"
