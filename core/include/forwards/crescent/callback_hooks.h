#pragma once
#include "crescent/model/callback_hooks.h"
