#pragma once
#include "crescent/program/linalg_op_types.h"
