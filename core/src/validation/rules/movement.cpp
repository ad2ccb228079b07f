// Ops that move elements: each result is an element of an input, with its bound.
#include <algorithm>
#include <numeric>

#include "validation/rules/rules.h"

namespace crescent::validation {

std::vector<size_t> broadcast_offsets(const Shape& from, const Shape& to) {
  const size_t size = to.size();
  std::vector<size_t> source_indices(size, 0);
  if (from == to) std::iota(source_indices.begin(), source_indices.end(), size_t{0});
  if (from == to || size == 0) return source_indices;
  std::vector<size_t> strides(to.rank(), 0);
  size_t stride = 1;
  for (int axis = from.rank() - 1; axis >= 0; --axis) {
    if (from[axis] != 1) strides[axis + to.rank() - from.rank()] = stride;
    stride *= static_cast<size_t>(from[axis]);
  }
  std::vector<int64_t> index(to.rank(), 0);
  size_t source_offset = 0;
  for (size_t& source_index : source_indices) {
    source_index = source_offset;
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      const size_t a = axis;
      source_offset += strides[a];
      if (++index[a] < to[axis]) break;
      source_offset -= strides[a] * static_cast<size_t>(to[axis]);
      index[a] = 0;
    }
  }
  return source_indices;
}

namespace {

constexpr size_t kNoSource = -1;

/// Calls f(index) for each index of the shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  if (shape.size() == 0) return;
  std::vector<int64_t> index(shape.rank(), 0);
  for (;;) {
    f(index);
    int axis = shape.rank() - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// The row-major offset of the element with this index.
size_t offset_of(const Shape& shape, const std::vector<int64_t>& index) {
  size_t source_index = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    source_index =
        source_index * static_cast<size_t>(shape[axis]) + static_cast<size_t>(index[axis]);
  return source_index;
}

void copy_element(const Bounded& x, size_t from, Bounded& y, size_t to) {
  if (y.is_real())
    y.real[to] = x.real[from];
  else
    y.whole[to] = x.whole[from];
  y.widen(to, x.error(from));
}

/// Gathers the elements of x at the offsets `source_indices`; where an offset is kNoSource, the
/// element is `fill_value`.
std::vector<Bounded> gather_elements(const RuleInput& r, const std::vector<size_t>& source_indices,
                                     double fill_value = 0) {
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  for (size_t i = 0; i < source_indices.size(); ++i) {
    if (source_indices[i] != kNoSource)
      copy_element(x, source_indices[i], y, i);
    else if (y.is_real())
      y.real[i] = rounded_to(fill_value, y.spec.dtype);
    else
      y.whole[i] = static_cast<int64_t>(rounded_to(fill_value, y.spec.dtype));
  }
  return {std::move(y)};
}

std::vector<Bounded> broadcast_rule(const RuleInput& r) {
  return gather_elements(r, broadcast_offsets(r.input(0).spec.shape, r.outputs[0].shape));
}

/// Makes each element of the result from its index: source(index) changes the index to that of an
/// element of x, or returns false if the element is `fill_value`.
template <class F>
std::vector<Bounded> gather_by_index(const RuleInput& r, F&& source, double fill_value = 0) {
  const Shape& source_shape = r.input(0).spec.shape;
  std::vector<size_t> source_indices;
  source_indices.reserve(r.outputs[0].shape.size());
  for_each_index(r.outputs[0].shape, [&](std::vector<int64_t> index) {
    source_indices.push_back(source(index) ? offset_of(source_shape, index) : kNoSource);
  });
  return gather_elements(r, source_indices, fill_value);
}

std::vector<Bounded> transpose_rule(const RuleInput& r) {
  const std::vector<int>& axes = r.as<Transpose>().axes;
  return gather_by_index(r, [&](std::vector<int64_t>& index) {
    std::vector<int64_t> source_index(index.size());
    for (size_t i = 0; i < axes.size(); ++i) source_index[axes[i]] = index[i];
    index = std::move(source_index);
    return true;
  });
}

std::vector<Bounded> slice_rule(const RuleInput& r) {
  const auto& op = r.as<Slice>();
  return gather_by_index(r, [&](std::vector<int64_t>& index) {
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = op.start[i] + index[i] * (op.stride.empty() ? 1 : op.stride[i]);
    return true;
  });
}

std::vector<Bounded> pad_rule(const RuleInput& r) {
  const auto& op = r.as<Pad>();
  const Shape& source_shape = r.input(0).spec.shape;
  return gather_by_index(
      r,
      [&](std::vector<int64_t>& index) {
        for (size_t i = 0; i < index.size(); ++i) {
          const int64_t step = op.inner.empty() ? 1 : op.inner[i] + 1,
                        source_index = index[i] - op.before[i];
          if (source_index < 0 || source_index % step != 0 ||
              source_index / step >= source_shape[static_cast<int>(i)])
            return false;
          index[i] = source_index / step;
        }
        return true;
      },
      op.value);
}

std::vector<Bounded> reverse_rule(const RuleInput& r) {
  const Shape& shape = r.input(0).spec.shape;
  return gather_by_index(r, [&](std::vector<int64_t>& index) {
    for (int axis : r.as<Reverse>().axes) index[axis] = shape[axis] - 1 - index[axis];
    return true;
  });
}

std::vector<Bounded> concat_rule(const RuleInput& r) {
  const int axis = r.as<Concat>().axis;
  Bounded y = Bounded::zeros(r.outputs[0]);
  const AxisExtents result_extents(r.outputs[0].shape, axis);
  int64_t first_index = 0;
  for (size_t input_index = 0; input_index < r.inputs.size(); ++input_index) {
    const Bounded& x = r.input(input_index);
    const AxisExtents source_extents(x.spec.shape, axis);
    for (int64_t before = 0; before < source_extents.before; ++before)
      for (int64_t k = 0; k < source_extents.along * source_extents.after; ++k)
        copy_element(x, before * source_extents.along * source_extents.after + k, y,
                     (before * result_extents.along + first_index) * result_extents.after + k);
    first_index += source_extents.along;
  }
  return {std::move(y)};
}

void fill_element(Bounded& y, size_t i, double number) {
  if (y.is_real())
    y.real[i] = rounded_to(number, y.spec.dtype);
  else
    y.whole[i] = wrap_around(static_cast<int64_t>(number), y.spec.dtype);
}

std::vector<Bounded> fill_rule(const RuleInput& r) {
  Bounded y = Bounded::of(Tensor::full(r.outputs[0].shape, r.as<Fill>().value, r.outputs[0].dtype),
                          r.rounding);
  return {std::move(y)};
}

std::vector<Bounded> iota_rule(const RuleInput& r) {
  Bounded y = Bounded::zeros(r.outputs[0]);
  const AxisExtents a(r.outputs[0].shape, r.as<Iota>().axis);
  for (size_t i = 0; i < y.size(); ++i)
    fill_element(y, i, static_cast<double>(static_cast<int64_t>(i) / a.after % a.along));
  return {std::move(y)};
}

constexpr OpRule kMovementRules[] = {
    {BroadcastTo::kName, broadcast_rule},
    {Transpose::kName, transpose_rule},
    {Slice::kName, slice_rule},
    {Pad::kName, pad_rule},
    {Reverse::kName, reverse_rule},
    {Concat::kName, concat_rule},
    {Fill::kName, fill_rule},
    {Iota::kName, iota_rule},
};

}  // namespace

std::span<const OpRule> movement_rules() { return kMovementRules; }

}  // namespace crescent::validation
