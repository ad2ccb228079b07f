// Functions of two numbers that no formula of others gives: bits and divisors of whole numbers, the
// neighbour of a fraction.
#pragma once
#include <string>

#include "../shared/shared.h"

namespace crescent::operations {

enum class Pairing : uint8_t {
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  gcd,
  lcm,
  nextafter,
};
std::string to_text(Pairing kind);

/// Of tensors of one shape and dtype: whole numbers, for nextafter float32 or float64.
Tensor paired(Pairing kind, const Tensor& a, const Tensor& b);

}  // namespace crescent::operations
