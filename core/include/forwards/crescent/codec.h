#pragma once
#include "crescent/registry/codec.h"
