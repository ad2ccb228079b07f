#pragma once
#include "crescent/program/op.h"
