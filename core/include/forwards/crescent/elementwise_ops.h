#pragma once
#include "crescent/program/elementwise_ops.h"
