// Callbacks made of functions: LambdaCallback and LearningRateScheduler.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent::lua {

void register_lambda_callbacks(Registry& registry);

}  // namespace crescent::lua
