// Names, sizes and order of the element types.
#include <algorithm>
#include <array>

#include "crescent/tensor/tensor.h"

namespace crescent {
namespace {

struct Row {
  const char* name;
  uint8_t size;
  bool floating, integer;
  uint8_t rank;  // for promotion: the higher one wins
};
// In the order of the enum.
constexpr std::array<Row, kDTypeCount> kRows{{
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
const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

size_t size_of(DType dtype) { return row(dtype).size; }
const char* name_of(DType dtype) { return row(dtype).name; }
bool is_floating(DType dtype) { return row(dtype).floating; }
bool is_integer(DType dtype) { return row(dtype).integer; }

DType dtype_named(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  std::vector<std::string> names;
  for (const Row& r : kRows) names.emplace_back(r.name);
  fail("unknown dtype '", name, "'", did_you_mean(name, names), "; known: ", join(names));
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::string || b == DType::string) fail(a, " and ", b, " have no common dtype");
  const bool floating = row(a).floating && row(b).floating;
  if (floating && row(a).size == 2 && row(b).size == 2)
    return DType::float32;                              // neither holds the other's values
  if (row(a).rank == row(b).rank) return DType::int16;  // int8 and uint8, likewise
  return row(a).rank >= row(b).rank ? a : b;
}

DType Codec<DType>::decode(const Value& value) { return dtype_named(value.as_string()); }
Value Codec<DType>::encode(const DType& member) { return name_of(member); }
std::string Codec<DType>::type() { return "a dtype"; }

}  // namespace crescent
