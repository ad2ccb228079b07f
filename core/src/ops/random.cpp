// Random numbers that depend only on seed, counter and position.
#include "program/support.h"

namespace crescent {

TensorSpecs Random::infer(std::span<const TensorSpec> in) const {
  if (in[0] != TensorSpec{DType::int64, {2}})
    fail("random: expected the state of a generator, int64(2,), got ", in[0]);
  const bool draws_bits = kind == RandomKind::bits;
  if (draws_bits ? dtype != DType::int32 : !is_floating(dtype))
    fail("random: cannot draw values of dtype ", dtype);
  return {{dtype, shape}};
}

}  // namespace crescent
