#pragma once
#include "crescent/program/gradient.h"
