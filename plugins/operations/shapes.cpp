// Operations that change the shape, order or number of elements.
#include "crescent/ops/shapes.h"

#include "crescent/registry/registration.h"
#include "given_axes.h"
#include "given_numbers.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using ops::Axes;
using Sizes = std::vector<int64_t>;

/// `sections` is a number of equal parts, or a list of the indices at which parts end.
Tensors split_at(const Tensor& x, const GivenIntegers& sections, int axis) {
  if (sections.value.is_list()) return ops::split_at(x, Codec<Sizes>::decode(sections.value), axis);
  return ops::split(x, sections.value.as_int(), axis);
}
Tensors array_split(const Tensor& x, const GivenIntegers& sections, int axis) {
  if (sections.value.is_list()) return split_at(x, sections, axis);
  return ops::array_split(x, sections.value.as_int(), axis);
}
Tensors hsplit(const Tensor& x, const GivenIntegers& sections) {
  if (sections.value.is_list()) return split_at(x, sections, x.rank() == 1 ? 0 : 1);
  return ops::hsplit(x, sections.value.as_int());
}
Tensors vsplit(const Tensor& x, const GivenIntegers& sections) {
  if (sections.value.is_list() && x.rank() > 1) return split_at(x, sections, 0);
  return ops::vsplit(x, sections.value.is_list() ? 1 : sections.value.as_int());
}
Tensors dsplit(const Tensor& x, const GivenIntegers& sections) {
  if (sections.value.is_list()) return split_at(x, sections, 2);
  return ops::dsplit(x, sections.value.as_int());
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return ops::broadcast_to(x, x.is_abstract() ? shape : checked_shape(shape));
}

Tensor repeat(const Tensor& x, const Value& repeats, std::optional<int64_t> axis) {
  return ops::repeat(x, Codec<Tensor>::decode(repeats), axis);
}

Tensor flip(const Tensor& x, const GivenAxes& axes) {
  return axes.list ? axes.list->empty() ? x : ops::flip(x, *axes.list) : ops::flip(x);
}

/// The padding that a value gives: a number, a pair for all axes, or a pair for each axis.
ops::PadWidths pad_widths(const Value& width) {
  const List pairs = width.is_list() ? width.as_list() : List{List{width, width}};
  const bool is_single_pair = !pairs.empty() && !pairs.front().is_list();
  const List rows =
      is_single_pair ? List{pairs.size() == 1 ? List{pairs[0], pairs[0]} : Value(pairs)} : pairs;
  ops::PadWidths widths;
  for (const Value& row : rows) {
    const Sizes pair = Codec<Sizes>::decode(row);
    if (pair.empty() || pair.size() > 2) fail("pad: expected pairs of widths, got ", width);
    widths.pairs.emplace_back(pair.front(), pair.back());
  }
  return widths;
}

Tensor pad(const Tensor& x, const GivenIntegers& width, const std::string& mode,
           const GivenFill& fill) {
  return ops::pad(x, pad_widths(width.value), mode, fill.value);
}

}  // namespace

CRESCENT_REGISTER(shapes) {
  Operations(registry, "keras.src.ops.core")
      .add(
          "Shape", "shape(x)", [](const Tensor& x) { return x.shape(); }, "The shape of x.")
      .add(
          "DType", "dtype(x)", [](const Tensor& x) { return std::string(name_of(x.dtype())); },
          "The name of the dtype of x.")
      .add("Cast", "cast(x, dtype)", &ops::cast, "x converted to another dtype.")
      .add("StopGradient", "stop_gradient(variable)", &ops::stop_gradient,
           "x, treated as a constant by differentiation.")
      .add("Unstack", "unstack(x, num=None, axis=0)", &ops::unstack,
           "Splits a tensor along an axis into a list of tensors.");
  Operations(registry, "keras.src.ops.numpy")
      .add(
          "Ndim", "ndim(x)", [](const Tensor& x) { return int64_t{x.rank()}; },
          "The number of axes of x.")
      .add(
          "Size", "size(x)", [](const Tensor& x) { return x.size(); },
          "The number of elements of x.")
      .add("Copy", "copy(x)", &ops::copy, "A copy of x.")
      .add("Reshape", "reshape(x, newshape)", &ops::reshape,
           "The same values in another shape; one size of -1 is computed from the others.")
      .add("Ravel", "ravel(x)", &ops::ravel, "x with all axes merged into one.")
      .add("Transpose", "transpose(x, axes=None)", &ops::transpose,
           "Permutes the axes; without axes reverses their order.")
      .add("Swapaxes", "swapaxes(x, axis1, axis2)", &ops::swapaxes, "Exchanges two axes.")
      .add("Moveaxis", "moveaxis(x, source, destination)", &ops::moveaxis,
           "Moves axes to other positions.")
      .add(
          "ExpandDims", "expand_dims(x, axis)",
          [](const Tensor& x, const Axes& axes) { return ops::expand_dims(x, axes); },
          "Inserts axes of size 1.")
      .add(
          "Squeeze", "squeeze(x, axis=None)",
          [](const Tensor& x, const Axes& axes) { return ops::squeeze(x, axes); },
          "Removes axes of size 1.")
      .add("BroadcastTo", "broadcast_to(x, shape)", &broadcast_to, "x broadcast to a shape.")
      .add("Concatenate", "concatenate(xs, axis=0)", &ops::concatenate,
           "Joins tensors along an axis.")
      .add("Stack", "stack(x, axis=0)", &ops::stack, "Joins tensors along a new axis.")
      .add("Hstack", "hstack(xs)", &ops::hstack,
           "Joins tensors along the second axis; vectors along the first.")
      .add("Vstack", "vstack(xs)", &ops::vstack,
           "Joins tensors along the first axis; vectors become rows.")
      .add("Dstack", "dstack(xs)", &ops::dstack, "Joins tensors along the third axis.")
      .add("Append", "append(x1, x2, axis=None)", &ops::append,
           "x2 appended to x1 along an axis; without an axis both are flattened.")
      .add("Split", "split(x, indices_or_sections, axis=0)", &split_at,
           "Splits x along an axis into a number of equal parts, or at the given indices.")
      .add("ArraySplit", "array_split(x, indices_or_sections, axis=0)", &array_split,
           "Splits x into parts of nearly equal size.")
      .add("Hsplit", "hsplit(x, indices_or_sections)", &hsplit,
           "Splits x along the second axis; vectors along the first.")
      .add("Vsplit", "vsplit(x, indices_or_sections)", &vsplit, "Splits x along the first axis.")
      .add("Dsplit", "dsplit(x, indices_or_sections)", &dsplit, "Splits x along the third axis.")
      .add("Tile", "tile(x, repeats)", &ops::tile, "Repeats x along each axis.")
      .add("Repeat", "repeat|repeat_elements(x, repeats, axis=None)", &repeat,
           "Repeats each element along an axis.")
      .add("Flip", "flip(x, axis=None)", &flip,
           "Reverses the order of elements along axes, or along all axes.")
      .add("Fliplr", "fliplr(x)", &ops::fliplr,
           "Reverses the order of elements along the second axis.")
      .add("Flipud", "flipud(x)", &ops::flipud,
           "Reverses the order of elements along the first axis.")
      .add("Roll", "roll(x, shift, axis=None)", &ops::roll,
           "Shifts elements along axes; those beyond the end continue at the start.")
      .add("Rot90", "rot90(array, k=1, axes=(0, 1))", &ops::rot90,
           "Rotates by multiples of 90 degrees in the plane of two axes.")
      .add("Pad", "pad(x, pad_width, mode='constant', @constant_values=None)", &pad,
           "Pads x; pad_width is a number, a pair {before, after}, or a pair for each axis.");
}

}  // namespace crescent::operations
