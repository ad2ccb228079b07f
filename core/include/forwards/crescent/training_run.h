#pragma once
#include "crescent/model/training_run.h"
