#pragma once
#include "crescent/search/study.h"
