// Operations that change the shape, order or number of elements.
#include "crescent/ops/shapes.h"

#include "crescent/registry/registration.h"
#include "given_axes.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using ops::Axes;
using Sizes = std::vector<int64_t>;

/// `sections` is a number of equal parts, or a list of the indices where parts end.
Tensors split_at(const Tensor& x, const Value& sections, int axis) {
  if (sections.is_list()) return ops::split_at(x, Codec<Sizes>::decode(sections), axis);
  return ops::split(x, Codec<int64_t>::decode(sections), axis);
}
Tensors array_split(const Tensor& x, const Value& sections, int axis) {
  if (sections.is_list()) return split_at(x, sections, axis);
  return ops::array_split(x, Codec<int64_t>::decode(sections), axis);
}
Tensors hsplit(const Tensor& x, const Value& sections) {
  if (sections.is_list()) return split_at(x, sections, x.rank() == 1 ? 0 : 1);
  return ops::hsplit(x, Codec<int64_t>::decode(sections));
}
Tensors vsplit(const Tensor& x, const Value& sections) {
  if (sections.is_list()) return split_at(x, sections, 0);
  return ops::vsplit(x, Codec<int64_t>::decode(sections));
}
Tensors dsplit(const Tensor& x, const Value& sections) {
  if (sections.is_list()) return split_at(x, sections, 2);
  return ops::dsplit(x, Codec<int64_t>::decode(sections));
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return ops::broadcast_to(x, x.is_abstract() ? shape : known(shape));
}

Tensor repeat(const Tensor& x, const Value& times, std::optional<int64_t> axis) {
  return ops::repeat(x, Codec<Tensor>::decode(times), axis);
}

Tensor flip(const Tensor& x, const GivenAxes& axes) {
  return axes.list ? axes.list->empty() ? x : ops::flip(x, *axes.list) : ops::flip(x);
}

/// The padding in a value: a number, a pair for all axes, or a pair for each axis.
ops::PadWidths pad_widths(const Value& width) {
  const List pairs = width.is_list() ? width.as_list() : List{List{width, width}};
  const bool flat = !pairs.empty() && !pairs.front().is_list();
  const List rows =
      flat ? List{pairs.size() == 1 ? List{pairs[0], pairs[0]} : Value(pairs)} : pairs;
  ops::PadWidths widths;
  for (const Value& row : rows) {
    const Sizes pair = Codec<Sizes>::decode(row);
    if (pair.empty() || pair.size() > 2) fail("pad: expected pairs of widths, got ", width);
    widths.pairs.emplace_back(pair.front(), pair.back());
  }
  return widths;
}

Tensor pad(const Tensor& x, const Value& width, const std::string& mode,
           std::optional<double> value) {
  return ops::pad(x, pad_widths(width), mode, value);
}

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
      .add("Unstack", "unstack(x, num=None, axis=0)", &ops::unstack, "The rows of an axis.");
  Operations(registry, "keras.src.ops.numpy")
      .add(
          "Ndim", "ndim(x)", [](const Tensor& x) { return int64_t{x.rank()}; },
          "How many axes x has.")
      .add(
          "Size", "size(x)", [](const Tensor& x) { return x.size(); }, "How many elements x has.")
      .add("Copy", "copy(x)", &ops::copy, "A copy of x.")
      .add("Reshape", "reshape(x, newshape)", &ops::reshape, "-1 is worked out.")
      .add("Ravel", "ravel(x)", &ops::ravel, "All elements in one axis.")
      .add("Transpose", "transpose(x, axes=None)", &ops::transpose,
           "x with its axes in another order, without one the other way round.")
      .add("Swapaxes", "swapaxes(x, axis1, axis2)", &ops::swapaxes, "x with two axes exchanged.")
      .add("Moveaxis", "moveaxis(x, source, destination)", &ops::moveaxis,
           "x with axes at other places.")
      .add(
          "ExpandDims", "expand_dims(x, axis)",
          [](const Tensor& x, const Axes& axes) { return ops::expand_dims(x, axes); },
          "x with axes of size 1 more.")
      .add(
          "Squeeze", "squeeze(x, axis=None)",
          [](const Tensor& x, const Axes& axes) { return ops::squeeze(x, axes); },
          "x without axes of size 1.")
      .add("BroadcastTo", "broadcast_to(x, shape)", &broadcast_to,
           "x repeated along axes of size 1, to a shape.")
      .add("Concatenate", "concatenate(xs, axis=0)", &ops::concatenate,
           "Tensors one after another along an axis.")
      .add("Stack", "stack(x, axis=0)", &ops::stack, "Tensors one after another along a new axis.")
      .add("Hstack", "hstack(xs)", &ops::hstack,
           "Tensors one after another along the second axis, vectors along the first.")
      .add("Vstack", "vstack(xs)", &ops::vstack,
           "Tensors one after another along the first axis, vectors as rows.")
      .add("Dstack", "dstack(xs)", &ops::dstack, "Tensors one after another along the third axis.")
      .add("Append", "append(x1, x2, axis=None)", &ops::append,
           "x2 after x1 along an axis, both flat without one.")
      .add("Split", "split(x, indices_or_sections, axis=0)", &split_at,
           "Equal parts, or parts that end at these indices.")
      .add("ArraySplit", "array_split(x, indices_or_sections, axis=0)", &array_split,
           "Parts as equal as can be.")
      .add("Hsplit", "hsplit(x, indices_or_sections)", &hsplit,
           "Parts along the second axis, of vectors along the first.")
      .add("Vsplit", "vsplit(x, indices_or_sections)", &vsplit, "Parts along the first axis.")
      .add("Dsplit", "dsplit(x, indices_or_sections)", &dsplit, "Parts along the third axis.")
      .add("Tile", "tile(x, repeats)", &ops::tile, "x so many times along each axis.")
      .add("Repeat", "repeat|repeat_elements(x, repeats, axis=None)", &repeat,
           "Each element so often.")
      .add("Flip", "flip(x, axis=None)", &flip,
           "x in the other order along axes, along all without one.")
      .add("Fliplr", "fliplr(x)", &ops::fliplr, "x in the other order along the second axis.")
      .add("Flipud", "flipud(x)", &ops::flipud, "x in the other order along the first axis.")
      .add("Roll", "roll(x, shift, axis=None)", &ops::roll,
           "x moved along axes; what leaves at one end comes in at the other.")
      .add("Rot90", "rot90(array, k=1, axes=(0, 1))", &ops::rot90, "Quarter turns.")
      .add("Pad", "pad(x, pad_width, mode='constant', @constant_values=None)", &pad,
           "Widths: a number, a pair, or a pair an axis.");
}

}  // namespace crescent::operations
