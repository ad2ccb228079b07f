#pragma once
#include "crescent/registry/matching_headers.h"
