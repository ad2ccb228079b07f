// The axes in a call of an operation: an empty list means no axes, while a missing argument means
// all axes.
#pragma once
#include "crescent/layer/operation.h"

namespace crescent {

struct GivenAxes {
  std::optional<std::vector<int>> list;
};
template <>
struct Codec<GivenAxes> {
  static GivenAxes decode(const Value& value) {
    if (value.is_null() || value == Value(false)) return {};
    return {Codec<AxisList>::decode(value)};
  }
  static Value encode(const GivenAxes& axes) { return axes.list ? Value(*axes.list) : Value(); }
  static std::string type() { return Codec<AxisList>::type(); }
};
template <>
struct detail::ArgumentTraits<GivenAxes> {
  using Type = GivenAxes;
  static constexpr bool is_tensor = false, is_list = true;
};

}  // namespace crescent
