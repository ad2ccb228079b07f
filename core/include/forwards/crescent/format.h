#pragma once
#include "crescent/io/format.h"
