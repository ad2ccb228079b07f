// The same elements in another shape, order or number.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "crescent/registry/registration.h"
#include "families.h"
#include "given_axes.h"
#include "kernels/axis_ops.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

Tensor squeeze(const Tensor& x, const std::vector<int>& axes) {
  if (axes.empty()) return ops::squeeze(x);
  std::vector<int> chosen = axes_of(x, axes);
  std::sort(chosen.rbegin(), chosen.rend());
  Tensor result = x;
  for (int axis : chosen) result = ops::squeeze(result, axis);
  return result;
}

Tensor expand_dims(const Tensor& x, const std::vector<int>& axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  std::vector<int> places;
  for (int axis : axes) {
    if (axis < -rank || axis >= rank)
      fail("expand_dims: axis ", axis, " is out of range for ", rank, " axes of shape ", x.shape(),
           " and new ones");
    places.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(places.begin(), places.end());
  Tensor result = x;
  for (int axis : places) result = ops::expand_dims(result, axis);
  return result;
}

Tensor moveaxis(const Tensor& x, const std::vector<int>& source, const std::vector<int>& target) {
  if (source.size() != target.size())
    fail("moveaxis: expected as many destinations as sources, got ", target.size(), " and ",
         source.size());
  const auto from = source.empty() ? source : axes_of(x, source);
  const auto to = target.empty() ? target : axes_of(x, target);
  for (const auto& [axes, role] : {std::pair(from, "source"), std::pair(to, "destination")}) {
    std::vector<int> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      fail("moveaxis: an axis is there twice in ", role, " ",
           to_text(Value(Sizes(axes.begin(), axes.end()))));
  }
  std::vector<int> order(static_cast<size_t>(x.rank()), -1), rest;
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(from.begin(), from.end(), i) == from.end()) rest.push_back(i);
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  auto next = rest.begin();
  for (int& axis : order)
    if (axis < 0) axis = *next++;
  return ops::transpose(x, order);
}

/// Sizes of parts: as many as there are, or cut at these positions.
Sizes parts_of(const char* what, const Sizes& sections, int64_t n, bool single, bool uneven) {
  if (n < 0) fail(what, ": the size of the axis must be known");
  Sizes sizes;
  if (!single) {
    int64_t last = 0;
    for (int64_t cut : sections) {
      const int64_t at = std::clamp(cut < 0 ? cut + n : cut, last, n);
      sizes.push_back(at - last);
      last = at;
    }
    sizes.push_back(n - last);
    return sizes;
  }
  const int64_t count = sections.front();
  if (count < 1 || (!uneven && n % count != 0))
    fail(what, ": ", n, " elements cannot be divided into ", count, " equal parts");
  constexpr int64_t kMost = 1 << 20;
  if (count > std::max(n, kMost))
    fail(what, ": ", count, " parts are too many for ", n, " elements");
  for (int64_t i = 0; i < count; ++i) sizes.push_back(n / count + (i < n % count ? 1 : 0));
  return sizes;
}

Tensors split_at(const char* what, const Tensor& x, const Value& sections, int axis, bool uneven) {
  const int along = axis_of(x, axis);
  const Sizes given = Codec<Sizes>::decode(sections);
  if (sections.is_list() && given.empty()) return {x};
  return ops::split(x, parts_of(what, given, x.dim(along), !sections.is_list(), uneven), along);
}

Tensors split(const Tensor& x, const Value& sections, int axis) {
  return split_at("split", x, sections, axis, false);
}
Tensors array_split(const Tensor& x, const Value& sections, int axis) {
  return split_at("array_split", x, sections, axis, true);
}
Tensors hsplit(const Tensor& x, const Value& sections) {
  return split_at("hsplit", x, sections, x.rank() == 1 ? 0 : 1, false);
}
Tensors vsplit(const Tensor& x, const Value& sections) {
  return split_at("vsplit", x, sections, 0, false);
}
Tensors dsplit(const Tensor& x, const Value& sections) {
  return split_at("dsplit", x, sections, 2, false);
}

Tensors unstack(const Tensor& x, std::optional<int64_t> num, int axis) {
  const int along = axis_of(x, axis);
  const int64_t n = x.dim(along);
  if (num && n >= 0 && *num != n)
    fail("unstack: num is ", *num, ", but axis ", axis, " of shape ", x.shape(), " has ", n);
  if (n < 0 && !num) fail("unstack: give num where the size of axis ", axis, " is not known");
  Tensors rows;
  for (const Tensor& row :
       ops::split(x, Sizes(static_cast<size_t>(n < 0 ? num.value_or(0) : n), 1), along))
    rows.push_back(ops::squeeze(row, along));
  return rows;
}

Tensor concatenate(const Tensors& xs, int axis) { return ops::concatenate(promoted(xs), axis); }
Tensor stack(const Tensors& xs, int axis) { return ops::stack(promoted(xs), axis); }

Tensor with_rank(const Tensor& x, int rank) {
  Tensor result = x;
  while (result.rank() < rank) result = ops::expand_dims(result, 0);
  return result;
}

Tensor hstack(const Tensors& xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) parts.push_back(with_rank(x, 1));
  return ops::concatenate(parts, parts.front().rank() == 1 ? 0 : 1);
}
Tensor vstack(const Tensors& xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) parts.push_back(with_rank(x, 2));
  return ops::concatenate(parts, 0);
}
Tensor dstack(const Tensors& xs) {
  Tensors parts;
  for (const Tensor& x : promoted(xs)) {
    const Tensor matrix = with_rank(x, 2);
    parts.push_back(matrix.rank() == 2 ? ops::expand_dims(matrix, 2) : matrix);
  }
  return ops::concatenate(parts, 2);
}

Tensor append(const Tensor& a, const Tensor& b, std::optional<int64_t> axis) {
  const Tensors both = promoted(Tensors{a, b});
  if (axis) return ops::concatenate(both, static_cast<int>(*axis));
  return ops::concatenate(Tensors{ops::reshape(both[0], {-1}), ops::reshape(both[1], {-1})}, 0);
}

/// In one pass where there is room for twice as many axes: an axis of n * d is n copies of d.
Tensor tile(const Tensor& given, const Sizes& repeats) {
  const auto count = static_cast<int>(repeats.size());
  const Tensor x = with_rank(given, count);
  Sizes all(static_cast<size_t>(x.rank() - count), 1);
  all.insert(all.end(), repeats.begin(), repeats.end());
  const auto is_usual = [](int64_t n) { return n >= 0 && n < INT32_MAX; };
  const bool fits = x.shape().is_known() && 2 * x.rank() <= Shape::kMaxRank &&
                    std::all_of(all.begin(), all.end(), is_usual);
  if (!fits || x.rank() == 0) return ops::tile(x, all);
  Shape interleaved, spread, result;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t n = all[static_cast<size_t>(i)], size = x.dim(i);
    interleaved.append(1), interleaved.append(size);
    spread.append(n), spread.append(size);
    result.append(n * size);
  }
  return ops::reshape(ops::broadcast_to(ops::reshape(x, interleaved), spread), result);
}

Tensor repeat(const Tensor& given, const Value& times, std::optional<int64_t> axis) {
  const Tensor repeats = Codec<Tensor>::decode(times);
  const auto [x, along] = flat_without(given, axis);
  if (repeats.is_abstract())
    fail("repeat: how often must be known while a program is recorded, got a tensor");
  const std::vector<double> counts = repeats.to_vector();
  if (counts.size() == 1) return ops::repeat(x, static_cast<int64_t>(counts.front()), along);
  if (static_cast<int64_t>(counts.size()) != x.dim(along))
    fail("repeat: expected one number or ", x.dim(along), " of them, got ", counts.size());
  std::vector<int32_t> rows;
  for (size_t i = 0; i < counts.size(); ++i)
    rows.insert(rows.end(), static_cast<size_t>(std::max(0.0, counts[i])), static_cast<int>(i));
  return ops::take(x, Tensor::from(rows, {static_cast<int64_t>(rows.size())}), along);
}

Tensor flip(const Tensor& x, const GivenAxes& axes) {
  if (axes.list && axes.list->empty()) return x;
  return ops::flip(x, axes_of(x, axes.list.value_or(std::vector<int>())));
}

Tensor roll(const Tensor& given, const Sizes& shift, const std::vector<int>& axes) {
  if (axes.empty()) {
    const int64_t total = std::accumulate(shift.begin(), shift.end(), int64_t{0});
    return ops::reshape(roll(ops::reshape(given, {-1}), {total}, {0}), given.shape());
  }
  const Sizes shifts = for_each_axis("shift", shift, axes.size());
  Tensor x = given;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int along = axis_of(x, axes[i]);
    const int64_t n = x.dim(along);
    if (n <= 0) continue;
    const int64_t back = ((shifts[i] % n) + n) % n;
    if (back == 0) continue;
    x = rolled(x, along, back);
  }
  return x;
}

Tensor rot90(const Tensor& x, int64_t k, const std::vector<int>& axes) {
  const std::vector<int> plane = axes.empty() ? std::vector<int>{0, 1} : axes_of(x, axes);
  if (plane.size() != 2 || plane[0] == plane[1])
    fail("rot90: expected two different axes, got ", axes.size());
  const int64_t turns = ((k % 4) + 4) % 4;
  if (turns == 0) return x;
  if (turns == 2) return ops::flip(x, plane);
  return turns == 1 ? apply_rot90(x, plane[0], plane[1]) : apply_rot90(x, plane[1], plane[0]);
}

/// Sizes before and after each axis: one number, one pair, or a pair an axis.
std::pair<Sizes, Sizes> pad_widths(const Value& width, int rank) {
  Sizes before, after;
  const auto count = static_cast<size_t>(rank);
  const List pairs = width.is_list() ? width.as_list() : List{List{width, width}};
  const bool flat = !pairs.empty() && !pairs.front().is_list();
  const List rows =
      flat ? List{pairs.size() == 1 ? List{pairs[0], pairs[0]} : Value(pairs)} : pairs;
  for (size_t i = 0; i < count; ++i) {
    if (rows.size() != 1 && rows.size() != count)
      fail("pad: expected a pair of widths or ", count, " pairs, got ", width);
    const Sizes pair = Codec<Sizes>::decode(rows[rows.size() == 1 ? 0 : i]);
    if (pair.empty() || pair.size() > 2) fail("pad: expected pairs of widths, got ", width);
    before.push_back(pair.front());
    after.push_back(pair.back());
  }
  return {before, after};
}

/// The element of an axis of n that is shown at place i, which may be outside.
int64_t at_edge(int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); }
int64_t at_wrapped(int64_t i, int64_t n) { return (i % n + n) % n; }
int64_t at_symmetric(int64_t i, int64_t n) {
  const int64_t at = at_wrapped(i, 2 * n);
  return at < n ? at : 2 * n - 1 - at;
}
int64_t at_reflected(int64_t i, int64_t n) {
  const int64_t period = std::max<int64_t>(1, 2 * n - 2), at = at_wrapped(i, period);
  return at < n ? at : period - at;
}

/// x with `before` and `after` more places along an axis, with elements of its own.
template <int64_t (*At)(int64_t i, int64_t n)>
Tensor extended(const Tensor& x, int axis, int64_t before, int64_t after) {
  std::vector<int32_t> places;
  for (int64_t i = -before; i < x.dim(axis) + after; ++i)
    places.push_back(static_cast<int32_t>(At(i, x.dim(axis))));
  return ops::take(x, Tensor::from(places, {static_cast<int64_t>(places.size())}), axis);
}

/// The same with one number of each line, such as its largest.
template <Tensor (*F)(const Tensor&, const std::vector<int>&, bool)>
Tensor surrounded(const Tensor& x, int axis, int64_t before, int64_t after) {
  Tensor number = F(x, {axis}, true);
  if (!is_floating(x.dtype())) number = ops::cast(ops::round(number), x.dtype());
  const auto repeated = [&](int64_t count) {
    Shape shape = number.shape();
    shape.set(axis, count);
    return ops::broadcast_to(number, shape);
  };
  return ops::concatenate(Tensors{repeated(before), x, repeated(after)}, axis);
}

/// The same from 0 outside to the edges.
Tensor ramped(const Tensor& x, int axis, int64_t before, int64_t after) {
  const Tensor edges = extended<at_edge>(x, axis, before, after);
  const int64_t n = x.dim(axis);
  std::vector<double> shares;
  for (int64_t i = -before; i < n + after; ++i)
    shares.push_back(i < 0    ? 1 + double(i) / double(before)
                     : i >= n ? 1 - double(i - n + 1) / double(after)
                              : 1);
  Shape shape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1));
  shape.set(axis, before + n + after);
  const Tensor share = ops::cast(Tensor::from(shares, shape), floating(x).dtype());
  const Tensor values = floating(edges) * share;
  return is_floating(x.dtype()) ? values : ops::cast(ops::floor(values), x.dtype());
}

struct PadMode {
  const char* name;
  Tensor (*along)(const Tensor& x, int axis, int64_t before, int64_t after);
};
constexpr PadMode kPadModes[] = {
    {"reflect", extended<at_reflected>}, {"symmetric", extended<at_symmetric>},
    {"edge", extended<at_edge>},         {"wrap", extended<at_wrapped>},
    {"circular", extended<at_wrapped>},  {"linear_ramp", ramped},
    {"maximum", surrounded<ops::max>},   {"minimum", surrounded<ops::min>},
    {"mean", surrounded<ops::mean>},     {"median", surrounded<median>},
};

const PadMode& pad_mode(const std::string& name) {
  std::vector<std::string> known{"constant", "empty"};
  for (const PadMode& mode : kPadModes) {
    if (name == mode.name) return mode;
    known.push_back(mode.name);
  }
  fail("pad: unknown mode '", name, "'", did_you_mean(name, known));
}

Tensor pad(const Tensor& x, const Value& width, const std::string& mode,
           std::optional<double> value) {
  const auto [before, after] = pad_widths(width, x.rank());
  if (mode == "constant") return ops::pad(x, before, after, value.value_or(0));
  if (value) fail("pad: constant_values belong to mode 'constant', got mode '", mode, "'");
  if (mode == "empty") return ops::pad(x, before, after, 0);
  const PadMode& chosen = pad_mode(mode);
  Tensor result = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (before[i] == 0 && after[i] == 0) continue;
    if (before[i] < 0 || after[i] < 0 || x.dim(axis) < 1)
      fail("pad: widths ", before[i], " and ", after[i], " do not fit axis ", axis, " of shape ",
           x.shape());
    result = chosen.along(result, axis, before[i], after[i]);
  }
  return result;
}

Tensor reshape(const Tensor& x, const Shape& shape) { return ops::reshape(x, shape); }

}  // namespace

CRESCENT_REGISTER(shapes) {
  Operations(registry, "keras.src.ops.core")
      .add(
          "Shape", "shape(x)", [](const Tensor& x) { return x.shape(); }, "The sizes of x.")
      .add(
          "DType", "dtype(x)", [](const Tensor& x) { return std::string(name_of(x.dtype())); },
          "The dtype of x, as a text.")
      .add("Cast", "cast(x, dtype)", &ops::cast, "x in another dtype.")
      .add("StopGradient", "stop_gradient(variable)", &ops::stop_gradient,
           "x, through which no gradient goes.")
      .add("Unstack", "unstack(x, num=None, axis=0)", &unstack, "The rows of an axis.");
  Operations(registry, "keras.src.ops.numpy")
      .add(
          "Ndim", "ndim(x)", [](const Tensor& x) { return int64_t{x.rank()}; },
          "How many axes x has.")
      .add(
          "Size", "size(x)", [](const Tensor& x) { return x.size(); }, "How many elements x has.")
      .add(
          "Copy", "copy(x)", [](const Tensor& x) { return x; }, "A copy of x.")
      .add("Reshape", "reshape(x, newshape)", &reshape, "-1 is worked out.")
      .add(
          "Ravel", "ravel(x)", [](const Tensor& x) { return ops::reshape(x, {-1}); },
          "All elements in one axis.")
      .add("Transpose", "transpose(x, axes=None)", &ops::transpose,
           "x with its axes in another order, without one the other way round.")
      .add("Swapaxes", "swapaxes(x, axis1, axis2)", &ops::swap_axes, "x with two axes exchanged.")
      .add("Moveaxis", "moveaxis(x, source, destination)", &moveaxis,
           "x with axes at other places.")
      .add("ExpandDims", "expand_dims(x, axis)", &expand_dims, "x with axes of size 1 more.")
      .add("Squeeze", "squeeze(x, axis=None)", &squeeze, "x without axes of size 1.")
      .add("BroadcastTo", "broadcast_to(x, shape)", &ops::broadcast_to,
           "x repeated along axes of size 1, to a shape.")
      .add("Concatenate", "concatenate(xs, axis=0)", &concatenate,
           "Tensors one after another along an axis.")
      .add("Stack", "stack(x, axis=0)", &stack, "Tensors one after another along a new axis.")
      .add("Hstack", "hstack(xs)", &hstack,
           "Tensors one after another along the second axis, vectors along the first.")
      .add("Vstack", "vstack(xs)", &vstack,
           "Tensors one after another along the first axis, vectors as rows.")
      .add("Dstack", "dstack(xs)", &dstack, "Tensors one after another along the third axis.")
      .add("Append", "append(x1, x2, axis=None)", &append,
           "x2 after x1 along an axis, both flat without one.")
      .add("Split", "split(x, indices_or_sections, axis=0)", &split,
           "Equal parts, or parts that end at these indices.")
      .add("ArraySplit", "array_split(x, indices_or_sections, axis=0)", &array_split,
           "Parts as equal as can be.")
      .add("Hsplit", "hsplit(x, indices_or_sections)", &hsplit,
           "Parts along the second axis, of vectors along the first.")
      .add("Vsplit", "vsplit(x, indices_or_sections)", &vsplit, "Parts along the first axis.")
      .add("Dsplit", "dsplit(x, indices_or_sections)", &dsplit, "Parts along the third axis.")
      .add("Tile", "tile(x, repeats)", &tile, "x so many times along each axis.")
      .add("Repeat", "repeat|repeat_elements(x, repeats, axis=None)", &repeat,
           "Each element so often.")
      .add("Flip", "flip(x, axis=None)", &flip,
           "x in the other order along axes, along all without one.")
      .add(
          "Fliplr", "fliplr(x)", [](const Tensor& x) { return ops::flip(x, {axis_of(x, 1)}); },
          "x in the other order along the second axis.")
      .add(
          "Flipud", "flipud(x)", [](const Tensor& x) { return ops::flip(x, {axis_of(x, 0)}); },
          "x in the other order along the first axis.")
      .add("Roll", "roll(x, shift, axis=None)", &roll,
           "x moved along axes; what leaves at one end comes in at the other.")
      .add("Rot90", "rot90(array, k=1, axes=(0, 1))", &rot90, "Quarter turns.")
      .add("Pad", "pad(x, pad_width, mode='constant', @constant_values=None)", &pad,
           "Widths: a number, a pair, or a pair an axis.");
}

}  // namespace crescent::operations
