#pragma once
#include "crescent/program/distribution.h"
