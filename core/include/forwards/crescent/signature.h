#pragma once
#include "crescent/registry/signature.h"
