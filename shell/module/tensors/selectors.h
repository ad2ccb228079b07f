// The keys in t[...]: positions from 1, ranges that include both ends, lists of positions, masks.
#pragma once
#include <lua.hpp>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {

/// The part of a key for one axis, or a mask over one or more axes; numbers are as in the key.
struct Selector {
  enum class Kind : uint8_t { position, range, list, mask };
  Kind kind = Kind::range;
  int64_t first = 1, last = -1, step = 1;
  Tensor tensor{};
  bool picks() const { return kind == Kind::list || kind == Kind::mask; }
  int axes() const { return kind == Kind::mask ? tensor.rank() : 1; }
};
using Selectors = std::vector<Selector>;

/// The selectors in the key at `index` for a tensor of this shape; axes that the key leaves out are
/// selected as a whole.
Selectors selectors_at(lua_State* L, int index, const Shape& shape);

/// The end of errors about positions out of range.
inline constexpr const char* kFromOne = "; positions count from 1, negative ones from the end";

/// The position counted from 0. Fails for a position outside of the axis, if its length is known.
int64_t place_of(int64_t position, const Shape& shape, int axis);
/// The positions of a list counted from 0. In abstract tensors they are checked when the program
/// runs.
Tensor places_of(const Tensor& list, const Shape& shape, int axis);
void expect_mask_fits(const Tensor& mask, const Shape& shape, int axis);

/// A range of an axis, from 0; `count` elements that are `step` apart.
struct AxisRange {
  int64_t first, count, step;
};
/// The range from position `first` to `last`, both included, counted from 1 or, if negative, from
/// the end, of an axis of known length; fails for positions outside of it.
AxisRange range_of(int64_t first, int64_t last, int64_t step, const Shape& shape, int axis);

}  // namespace crescent::lua
