// Functions that change the shape, order or number of elements.
#include "crescent/ops/shapes.h"

#include <numeric>

#include "crescent/program/element_writing.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {

Tensor copy(const Tensor& x) { return is_followed(x) ? x : x.clone(); }

Tensor squeeze(const Tensor& x, const Axes& axes) {
  if (axes.empty()) return ops::squeeze(x);
  std::vector<int> squeezed_axes = axes_of(x, axes);
  std::sort(squeezed_axes.rbegin(), squeezed_axes.rend());
  Tensor result = x;
  for (int axis : squeezed_axes) result = ops::squeeze(result, axis);
  return result;
}

Tensor expand_dims(const Tensor& x, const Axes& axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  std::vector<int> positions;
  for (int axis : axes) {
    if (axis < -rank || axis >= rank)
      fail("expand_dims: axis ", axis, " is out of range for ", rank, " axes of shape ", x.shape(),
           " and new ones");
    positions.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(positions.begin(), positions.end());
  Tensor result = x;
  for (int axis : positions) result = ops::expand_dims(result, axis);
  return result;
}

Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& target) {
  if (source.size() != target.size())
    fail("moveaxis: expected as many destinations as sources, got ", target.size(), " and ",
         source.size());
  const auto source_axes = source.empty() ? source : axes_of(x, source);
  const auto target_axes = target.empty() ? target : axes_of(x, target);
  for (const auto& [axes, role] :
       {std::pair(source_axes, "source"), std::pair(target_axes, "destination")}) {
    std::vector<int> sorted_axes = axes;
    std::sort(sorted_axes.begin(), sorted_axes.end());
    if (std::adjacent_find(sorted_axes.begin(), sorted_axes.end()) != sorted_axes.end())
      fail("moveaxis: an axis is there twice in ", role, " ",
           to_text(Value(std::vector<int64_t>(axes.begin(), axes.end()))));
  }
  std::vector<int> order(x.rank(), -1), other_axes;
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(source_axes.begin(), source_axes.end(), i) == source_axes.end())
      other_axes.push_back(i);
  for (size_t i = 0; i < source_axes.size(); ++i) order[target_axes[i]] = source_axes[i];
  auto next_axis = other_axes.begin();
  for (int& axis : order)
    if (axis < 0) axis = *next_axis++;
  return ops::transpose(x, order);
}

Tensor repeat(const Tensor& x, int64_t n) { return ops::repeat(ops::reshape(x, {-1}), n, 0); }
Tensor repeat(const Tensor& input, const Tensor& repeats, std::optional<int64_t> axis) {
  const auto [x, positive_axis] = flat_without(input, axis);
  if (repeats.is_abstract())
    fail("repeat: how often must be known while a program is recorded, got a tensor");
  const std::vector<double> counts = repeats.to_vector();
  if (counts.size() == 1)
    return ops::repeat(x, static_cast<int64_t>(counts.front()), positive_axis);
  if (static_cast<int64_t>(counts.size()) != x.dim(positive_axis))
    fail("repeat: expected one number or ", x.dim(positive_axis), " of them, got ", counts.size());
  std::vector<int32_t> indices;
  for (size_t i = 0; i < counts.size(); ++i)
    indices.insert(indices.end(), static_cast<size_t>(std::max(0.0, counts[i])),
                   static_cast<int>(i));
  return ops::gather(x, Tensor::from(indices, {static_cast<int64_t>(indices.size())}),
                     positive_axis);
}

Tensor flip(const Tensor& x) { return ops::flip(x, axes_of(x, {})); }
Tensor fliplr(const Tensor& x) { return ops::flip(x, {axis_of(x, 1)}); }
Tensor flipud(const Tensor& x) { return ops::flip(x, {axis_of(x, 0)}); }

Tensor roll(const Tensor& input, const std::vector<int64_t>& shift, const Axes& axes) {
  if (axes.empty()) {
    const int64_t total_shift = std::accumulate(shift.begin(), shift.end(), int64_t{0});
    return ops::reshape(roll(ops::reshape(input, {-1}), {total_shift}, {0}), input.shape());
  }
  const std::vector<int64_t> shifts = for_each_axis("shift", shift, axes.size());
  Tensor x = input;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int positive_axis = axis_of(x, axes[i]);
    const int64_t n = x.dim(positive_axis);
    if (n <= 0) continue;
    const int64_t positive_shift = ((shifts[i] % n) + n) % n;
    if (positive_shift == 0) continue;
    x = rolled(x, positive_axis, positive_shift);
  }
  return x;
}

Tensor rot90(const Tensor& x, int64_t k, const Axes& axes) {
  const std::vector<int> plane = axes.empty() ? std::vector<int>{0, 1} : axes_of(x, axes);
  if (plane.size() != 2 || plane[0] == plane[1])
    fail("rot90: expected two different axes, got ", axes.size());
  const int64_t turn_count = ((k % 4) + 4) % 4;
  if (turn_count == 0) return x;
  if (turn_count == 2) return ops::flip(x, plane);
  return turn_count == 1 ? quarter_turned(x, plane[0], plane[1])
                         : quarter_turned(x, plane[1], plane[0]);
}

}  // namespace crescent::ops
