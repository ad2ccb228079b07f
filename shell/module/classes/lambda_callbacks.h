// Callbacks made of functions: LambdaCallback and LearningRateScheduler.
#pragma once

namespace crescent::lua {

void register_lambda_callbacks();

}  // namespace crescent::lua
