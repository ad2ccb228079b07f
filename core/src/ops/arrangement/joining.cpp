// Functions that join tensors and split them.
#include "crescent/ops/shapes.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Divides n elements into `count` equal parts and returns their sizes; with `allow_uneven`, the
/// sizes may differ by one.
std::vector<int64_t> part_sizes(const char* what, int64_t n, int64_t count, bool allow_uneven) {
  if (n < 0) fail(what, ": the size of the axis must be known");
  if (count < 1 || (!allow_uneven && n % count != 0))
    fail(what, ": ", n, " elements cannot be divided into ", count, " equal parts");
  constexpr int64_t kMaxPartCount = 1 << 20;
  if (count > std::max(n, kMaxPartCount))
    fail(what, ": ", count, " parts are too many for ", n, " elements");
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i) sizes.push_back(n / count + (i < n % count ? 1 : 0));
  return sizes;
}

Tensors split_into_parts(const char* what, const Tensor& x, int64_t sections, int axis,
                         bool allow_uneven) {
  const int positive_axis = axis_of(x, axis);
  return ops::split(x, part_sizes(what, x.dim(positive_axis), sections, allow_uneven),
                    positive_axis);
}

Tensor with_leading_axes(const Tensor& x, int rank) {
  Tensor result = x;
  while (result.rank() < rank) result = ops::expand_dims(result, 0);
  return result;
}

}  // namespace

Tensors split(const Tensor& x, int64_t sections, int axis) {
  return split_into_parts("split", x, sections, axis, false);
}
Tensors array_split(const Tensor& x, int64_t sections, int axis) {
  return split_into_parts("array_split", x, sections, axis, true);
}
Tensors hsplit(const Tensor& x, int64_t sections) {
  return split_into_parts("hsplit", x, sections, x.rank() == 1 ? 0 : 1, false);
}
Tensors vsplit(const Tensor& x, int64_t sections) {
  if (x.rank() < 2) fail("vsplit: expected at least 2 axes, got shape ", x.shape());
  return split_into_parts("vsplit", x, sections, 0, false);
}
Tensors dsplit(const Tensor& x, int64_t sections) {
  return split_into_parts("dsplit", x, sections, 2, false);
}

Tensors split_at(const Tensor& x, const std::vector<int64_t>& indices, int axis) {
  const int positive_axis = axis_of(x, axis);
  if (indices.empty()) return {x};
  const int64_t n = x.dim(positive_axis);
  if (n < 0) fail("split: the size of the axis must be known");
  std::vector<int64_t> sizes;
  int64_t last_cut = 0;
  for (int64_t split_index : indices) {
    const int64_t cut_position =
        std::clamp(split_index < 0 ? split_index + n : split_index, last_cut, n);
    sizes.push_back(cut_position - last_cut);
    last_cut = cut_position;
  }
  sizes.push_back(n - last_cut);
  return ops::split(x, sizes, positive_axis);
}

Tensors unstack(const Tensor& x, std::optional<int64_t> num, int axis) {
  const int positive_axis = axis_of(x, axis);
  const int64_t n = x.dim(positive_axis);
  if (num && n >= 0 && *num != n)
    fail("unstack: num is ", *num, ", but axis ", axis, " of shape ", x.shape(), " has ", n);
  if (n < 0 && !num) fail("unstack: give num where the size of axis ", axis, " is not known");
  Tensors slices;
  for (const Tensor& slice_of_axis :
       ops::split(x, std::vector<int64_t>(n < 0 ? num.value_or(0) : n, 1), positive_axis))
    slices.push_back(ops::squeeze(slice_of_axis, positive_axis));
  return slices;
}

Tensor hstack(std::span<const Tensor> xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) parts.push_back(with_leading_axes(x, 1));
  return ops::concatenate(parts, parts.front().rank() == 1 ? 0 : 1);
}
Tensor vstack(std::span<const Tensor> xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) parts.push_back(with_leading_axes(x, 2));
  return ops::concatenate(parts, 0);
}
Tensor dstack(std::span<const Tensor> xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) {
    const Tensor matrix = with_leading_axes(x, 2);
    parts.push_back(matrix.rank() == 2 ? ops::expand_dims(matrix, 2) : matrix);
  }
  return ops::concatenate(parts, 2);
}

Tensor append(const Tensor& a, const Tensor& b, std::optional<int64_t> axis) {
  const Tensors promoted_tensors = promoted(Tensors{a, b});
  if (axis) return ops::concatenate(promoted_tensors, static_cast<int>(*axis));
  return ops::concatenate(
      Tensors{ops::reshape(promoted_tensors[0], {-1}), ops::reshape(promoted_tensors[1], {-1})}, 0);
}

}  // namespace crescent::ops
