#pragma once
#include "crescent/layer/node.h"
