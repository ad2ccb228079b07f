// Limits and release of memory.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Fails when the process cannot allocate `bytes` more for tensors within the memory of the machine
/// or of its container.
void expect_memory(size_t bytes);

/// Gives memory that was freed and cached for reuse back to the system.
void give_back_memory();

}  // namespace crescent
