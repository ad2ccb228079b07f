#pragma once
#include "crescent/registry/registration.h"
