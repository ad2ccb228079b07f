// Padding of arrays in all modes of NumPy.
#include "crescent/ops/reductions.h"
#include "crescent/ops/shapes.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

std::pair<std::vector<int64_t>, std::vector<int64_t>> pad_widths(const PadWidths& widths,
                                                                 int rank) {
  const auto count = static_cast<size_t>(rank);
  if (widths.pairs.size() != 1 && widths.pairs.size() != count)
    fail("pad: expected a pair of widths or ", count, " pairs, got ", widths.pairs.size());
  std::vector<int64_t> before, after;
  for (size_t i = 0; i < count; ++i) {
    const auto& [width_before, width_after] = widths.pairs[widths.pairs.size() == 1 ? 0 : i];
    before.push_back(width_before), after.push_back(width_after);
  }
  return {before, after};
}

/// The functions at_... return, for one mode of padding each, the index of the element that appears
/// at position i of a padded axis; i may lie outside of the n elements of the axis.
int64_t at_edge(int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); }
int64_t at_wrapped(int64_t i, int64_t n) { return (i % n + n) % n; }
int64_t at_symmetric(int64_t i, int64_t n) {
  const int64_t wrapped_index = at_wrapped(i, 2 * n);
  return wrapped_index < n ? wrapped_index : 2 * n - 1 - wrapped_index;
}
int64_t at_reflected(int64_t i, int64_t n) {
  const int64_t period = std::max<int64_t>(1, 2 * n - 2), wrapped_index = at_wrapped(i, period);
  return wrapped_index < n ? wrapped_index : period - wrapped_index;
}

/// Returns x extended along an axis by `before` and `after` elements, which are copies of
/// elements of x.
template <int64_t (*IndexAt)(int64_t i, int64_t n)>
Tensor extend_by_copies(const Tensor& x, int axis, int64_t before, int64_t after) {
  std::vector<int32_t> indices;
  for (int64_t i = -before; i < x.dim(axis) + after; ++i)
    indices.push_back(static_cast<int32_t>(IndexAt(i, x.dim(axis))));
  return ops::gather(x, Tensor::from(indices, {static_cast<int64_t>(indices.size())}), axis);
}

/// Pads with a statistic of each line along the axis, such as its maximum.
template <Tensor (*Statistic)(const Tensor&, const std::vector<int>&, bool)>
Tensor pad_with_statistic(const Tensor& x, int axis, int64_t before, int64_t after) {
  Tensor statistic = Statistic(x, {axis}, true);
  if (!is_floating(x.dtype())) statistic = ops::cast(ops::round(statistic), x.dtype());
  const auto repeat_statistic = [&](int64_t count) {
    Shape shape = statistic.shape();
    shape.set(axis, count);
    return ops::broadcast_to(statistic, shape);
  };
  return ops::concatenate(Tensors{repeat_statistic(before), x, repeat_statistic(after)}, axis);
}

/// Pads with a linear ramp from 0 to the edge values.
Tensor pad_with_ramp(const Tensor& x, int axis, int64_t before, int64_t after) {
  const Tensor edges = extend_by_copies<at_edge>(x, axis, before, after);
  const int64_t n = x.dim(axis);
  std::vector<double> factors;
  for (int64_t i = -before; i < n + after; ++i)
    factors.push_back(i < 0    ? 1 + double(i) / double(before)
                      : i >= n ? 1 - double(i - n + 1) / double(after)
                               : 1);
  Shape shape(std::vector<int64_t>(x.rank(), 1));
  shape.set(axis, before + n + after);
  const Tensor ramp = ops::cast(Tensor::from(factors, shape), floating(x).dtype());
  const Tensor values = floating(edges) * ramp;
  return is_floating(x.dtype()) ? values : ops::cast(ops::floor(values), x.dtype());
}

struct PadMode {
  const char* name;
  Tensor (*pad_axis)(const Tensor& x, int axis, int64_t before, int64_t after);
};
constexpr PadMode kPadModes[] = {
    {"reflect", extend_by_copies<at_reflected>}, {"symmetric", extend_by_copies<at_symmetric>},
    {"edge", extend_by_copies<at_edge>},         {"wrap", extend_by_copies<at_wrapped>},
    {"circular", extend_by_copies<at_wrapped>},  {"linear_ramp", pad_with_ramp},
    {"maximum", pad_with_statistic<ops::max>},   {"minimum", pad_with_statistic<ops::min>},
    {"mean", pad_with_statistic<ops::mean>},     {"median", pad_with_statistic<ops::median>},
};

const PadMode& pad_mode(const std::string& name) {
  std::vector<std::string> mode_names{"constant", "empty"};
  for (const PadMode& mode : kPadModes) {
    if (name == mode.name) return mode;
    mode_names.push_back(mode.name);
  }
  fail("pad: unknown mode '", name, "'", did_you_mean(name, mode_names));
}

}  // namespace

Tensor pad(const Tensor& x, const PadWidths& widths, const std::string& mode,
           std::optional<double> value) {
  const auto [before, after] = pad_widths(widths, x.rank());
  if (mode == "constant") return ops::pad(x, before, after, value.value_or(0));
  if (value) fail("pad: constant_values belong to mode 'constant', got mode '", mode, "'");
  if (mode == "empty") return ops::pad(x, before, after, 0);
  const PadMode& chosen_mode = pad_mode(mode);
  Tensor result = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (before[i] == 0 && after[i] == 0) continue;
    if (before[i] < 0 || after[i] < 0 || x.dim(axis) < 1)
      fail("pad: widths ", before[i], " and ", after[i], " do not fit axis ", axis, " of shape ",
           x.shape());
    result = chosen_mode.pad_axis(result, axis, before[i], after[i]);
  }
  return result;
}

}  // namespace crescent::ops
