#pragma once
#include "crescent/program/array_op_types.h"
