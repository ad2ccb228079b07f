#pragma once
#include "crescent/program/program.h"
