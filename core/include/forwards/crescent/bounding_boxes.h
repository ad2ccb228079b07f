#pragma once
#include "crescent/ops/bounding_boxes.h"
