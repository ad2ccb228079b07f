// einsum of one or two operands.
#pragma once
#include <span>
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

Tensor einsum_of_two(const std::string& equation, std::span<const Tensor> tensors);

}  // namespace crescent
