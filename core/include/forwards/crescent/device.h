#pragma once
#include "crescent/program/device.h"
