// The keys in t[...]: positions that count from 1, ranges that include both ends, lists of
// positions, and masks.
#pragma once
#include <lua.hpp>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {

/// One part of a key. A mask selects from one or more axes, other parts select from one axis.
/// Numbers are stored as the user gave them.
struct Selector {
  enum class Kind : uint8_t { position, range, list, mask };
  Kind kind = Kind::range;
  int64_t first = 1, last = -1, step = 1;
  Tensor tensor{};
  bool is_list_or_mask() const { return kind == Kind::list || kind == Kind::mask; }
  int axes() const { return kind == Kind::mask ? tensor.rank() : 1; }
};
using Selectors = std::vector<Selector>;

/// The selectors in the key at `index` for a tensor of this shape; axes that the key does not
/// mention are selected as a whole.
Selectors selectors_at(lua_State* L, int index, const Shape& shape);

/// The end of error messages about positions out of range.
inline constexpr const char* kFromOne = "; positions count from 1, negative ones from the end";

/// Converts a position to an offset from 0. Fails if it is outside of the axis and the length of
/// the axis is known.
int64_t offset_of(int64_t position, const Shape& shape, int axis);
/// Converts the positions in a list to offsets from 0. The positions in an abstract tensor are
/// checked when the program runs.
Tensor offsets_of(const Tensor& list, const Shape& shape, int axis);
void expect_mask_fits(const Tensor& mask, const Shape& shape, int axis);

/// A range of an axis: it begins at the offset `first` and has `count` elements that are `step`
/// apart.
struct AxisRange {
  int64_t first, count, step;
};
/// The range from position `first` to `last`, both included. Positions count from 1, negative ones
/// from the end; the length of the axis must be known. Fails for positions outside of the axis.
AxisRange range_of(int64_t first, int64_t last, int64_t step, const Shape& shape, int axis);

}  // namespace crescent::lua
