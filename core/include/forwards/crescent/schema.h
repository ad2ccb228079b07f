#pragma once
#include "crescent/registry/schema.h"
