#pragma once
#include "crescent/model/distillation_loss.h"
