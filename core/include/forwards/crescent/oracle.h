#pragma once
#include "crescent/search/oracle.h"
