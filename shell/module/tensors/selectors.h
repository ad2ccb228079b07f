// What stands in t[...]: positions from 1, ranges with both ends, lists of positions, masks.
#pragma once
#include <lua.hpp>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {

/// What a key says of an axis, or a mask of one or more of them; the numbers are those of the key.
struct Selector {
  enum class Kind : uint8_t { position, range, list, mask };
  Kind kind = Kind::range;
  int64_t first = 1, last = -1, step = 1;
  Tensor tensor{};
  bool picks() const { return kind == Kind::list || kind == Kind::mask; }
  int axes() const { return kind == Kind::mask ? tensor.rank() : 1; }
};
using Selectors = std::vector<Selector>;

/// The key at `index` of a tensor of this shape, with the whole of the axes that it leaves out.
Selectors selectors_at(lua_State* L, int index, const Shape& shape);

/// Ends messages about positions that are not there.
inline constexpr const char* kFromOne = "; positions count from 1, negative ones from the end";

/// A position from 0, where the length of the axis is known; fails where it is not there.
int64_t place_of(int64_t position, const Shape& shape, int axis);
/// The positions of a list from 0. Those that have no values yet are checked when they have.
Tensor places_of(const Tensor& list, const Shape& shape, int axis);
void expect_mask_fits(const Tensor& mask, const Shape& shape, int axis);

/// A range of an axis, from 0; `count` elements that are `step` apart.
struct AxisRange {
  int64_t first, count, step;
};
/// Positions from 1, both ends included, negative ones from the end, as a range of an axis whose
/// length is known; fails for positions that are not there.
AxisRange range_of(int64_t first, int64_t last, int64_t step, const Shape& shape, int axis);

}  // namespace crescent::lua
