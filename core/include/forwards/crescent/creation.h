#pragma once
#include "crescent/ops/creation.h"
