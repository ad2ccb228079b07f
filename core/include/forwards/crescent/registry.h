#pragma once
#include "crescent/registry/registry.h"
