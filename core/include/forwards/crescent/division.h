#pragma once
#include "crescent/program/division.h"
