// Names, sizes and promotion of dtypes.
#include <algorithm>
#include <array>
#include <atomic>

#include "crescent/tensor/tensor.h"

namespace crescent {
namespace {

struct DTypeSpec {
  const char* name;
  uint8_t size;
  bool is_floating, is_integer;
  uint8_t promotion_rank;  // the common dtype of two dtypes is the one of higher rank
};
// The rows are in the order of the enum DType.
constexpr std::array<DTypeSpec, kDTypeCount> kDTypeSpecs{{
    {"float32", 4, true, false, 7},
    {"float64", 8, true, false, 8},
    {"bfloat16", 2, true, false, 6},
    {"float16", 2, true, false, 5},
    {"int32", 4, false, true, 3},
    {"int64", 8, false, true, 4},
    {"uint8", 1, false, true, 1},
    {"bool", 1, false, false, 0},
    {"int8", 1, false, true, 1},
    {"int16", 2, false, true, 2},
    {"complex64", 8, false, false, 9},
    {"string", 8, false, false, 10},
}};
const DTypeSpec& spec_of(DType dtype) { return kDTypeSpecs[static_cast<size_t>(dtype)]; }

std::atomic<DType> current_floatx{DType::float32};

}  // namespace

size_t size_of(DType dtype) { return spec_of(dtype).size; }
const char* name_of(DType dtype) { return spec_of(dtype).name; }
bool is_floating(DType dtype) { return spec_of(dtype).is_floating; }
bool is_integer(DType dtype) { return spec_of(dtype).is_integer; }

DType dtype_named(std::string_view name) {
  for (size_t i = 0; i < kDTypeSpecs.size(); ++i) {
    if (kDTypeSpecs[i].name == name) return static_cast<DType>(i);
  }
  std::vector<std::string> names;
  for (const DTypeSpec& spec : kDTypeSpecs) names.emplace_back(spec.name);
  fail("unknown dtype '", name, "'", did_you_mean(name, names), "; known: ", join(names));
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::string || b == DType::string) fail(a, " and ", b, " have no common dtype");
  const bool are_floating = spec_of(a).is_floating && spec_of(b).is_floating;
  if (are_floating && spec_of(a).size == 2 && spec_of(b).size == 2)
    return DType::float32;  // float16 and bfloat16: neither represents all values of the other
  // The only different dtypes of equal rank are int8 and uint8. Neither of them represents all
  // values of the other, so their common dtype is int16.
  if (spec_of(a).promotion_rank == spec_of(b).promotion_rank) return DType::int16;
  return spec_of(a).promotion_rank >= spec_of(b).promotion_rank ? a : b;
}

DType floatx() { return current_floatx.load(std::memory_order_relaxed); }

void set_floatx(DType dtype) {
  if (!is_floating(dtype))
    fail("floatx: expected float16, bfloat16, float32 or float64, got ", dtype);
  current_floatx.store(dtype, std::memory_order_relaxed);
}

DType Codec<DType>::decode(const Value& value) { return dtype_named(value.as_string()); }
Value Codec<DType>::encode(const DType& member) { return name_of(member); }
std::string Codec<DType>::type() { return "a dtype"; }

}  // namespace crescent
