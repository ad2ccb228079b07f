// What this machine can hold.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Fails when so many bytes more are beyond what the machine, or the container we are in, has for
/// tensors.
void expect_memory(size_t bytes);

/// Gives back to the system what was freed and is kept for the next who asks.
void give_back_memory();

}  // namespace crescent
