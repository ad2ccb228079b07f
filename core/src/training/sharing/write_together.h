// Writes files of models whose weights are divided among processes.
#pragma once
#include <functional>

#include "crescent/tensor/variable.h"

namespace crescent {

/// Calls `write`, which reads these variables. If some of them are divided among processes, all
/// processes must call this function: they gather the values, rank 0 alone calls `write`, and if
/// that fails, all processes raise the error.
void write_together(const Variables& variables, const std::function<void()>& write);

}  // namespace crescent
