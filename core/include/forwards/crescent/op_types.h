#pragma once
#include "crescent/program/op_types.h"
