// Reference implementations of ops that work on the bits of numbers.
#include <bit>

#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

/// The bits of a number in the dtype.
uint64_t bits_of(double x, DType dtype) {
  const auto number = static_cast<float>(x);
  switch (dtype) {
    case DType::float64:
      return std::bit_cast<uint64_t>(x);
    case DType::float32:
      return std::bit_cast<uint32_t>(number);
    case DType::float16:
      return float_to_float16(number);
    case DType::bfloat16:
      return float_to_bfloat16(number);
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(x));
  }
}

double number_of(uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::bit_cast<double>(bits);
    case DType::float32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::float16:
      return float16_to_float(static_cast<uint16_t>(bits));
    case DType::bfloat16:
      return bfloat16_to_float(static_cast<uint16_t>(bits));
    case DType::boolean:
      return (bits & 255) != 0;
    default:
      return nearest(static_cast<double>(static_cast<int64_t>(bits)), dtype);
  }
}

/// Reinterprets bytes as numbers of another dtype (little-endian).
void interpret_view(const Call& call) {
  const Array& x = *call.in[0];
  Array& out = call.out[0];
  const size_t from = size_of(x.spec.dtype), to = size_of(out.spec.dtype);
  std::vector<unsigned char> bytes;
  for (double value : x.values) {
    const uint64_t element_bits = bits_of(value, x.spec.dtype);
    for (size_t i = 0; i < from; ++i)
      bytes.push_back(static_cast<unsigned char>(element_bits >> (8 * i)));
  }
  for (size_t k = 0; k < out.values.size(); ++k) {
    uint64_t element_bits = 0;
    for (size_t i = 0; i < to; ++i) element_bits |= uint64_t{bytes[k * to + i]} << (8 * i);
    out.values[k] = number_of(element_bits, out.spec.dtype);
  }
}

}  // namespace

bool interpret_bits(const Call& call) {
  if (call.op.name() != "view") return false;
  interpret_view(call);
  return true;
}

}  // namespace crescent::random_programs
