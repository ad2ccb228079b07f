#pragma once
#include "crescent/registry/loader.h"
