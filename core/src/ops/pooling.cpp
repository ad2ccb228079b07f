// Pooling over 1 to 3 spatial axes.
#include "ops/formats.h"
#include "ops/windows.h"

namespace crescent {
namespace {

Shape pool_shape(std::string_view op, const Shape& x, const std::vector<int64_t>& window,
                 const ConvSpec& spec) {
  if (x.rank() < 3 || x.rank() > 5 || window.size() != spatial_rank(x)) {
    fail(op, ": a window of ", window.size(), " axes does not fit shape ", x);
  }
  expect_spatial(op, spec, window.size());
  Shape result{x[0]};
  for (size_t i = 0; i < window.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    if (window[i] < 1) fail(op, ": the window must be at least 1, got ", window[i]);
    if (spec.pad_before[i] >= window[i] || spec.pad_after[i] >= window[i])
      fail(op, ": padding must be smaller than the window");
    const int64_t position_count = window_count(x[axis], window[i], spec, i);
    if (position_count == 0 && x[axis] != 0)
      fail(op, ": the window of ", window[i], " is larger than axis ", axis, " of shape ", x);
    result.append(position_count);
  }
  result.append(x[-1]);
  return result;
}

/// All windows of x: (positions in the window, batch, output positions..., channels), for the
/// second derivative of max pooling.
Tensor windows_of(const Tensor& x, const PoolBackward& op, double padding_value) {
  const size_t axis_count = op.window.size();
  std::vector<int64_t> before{0}, after{0};
  for (size_t i = 0; i < axis_count; ++i)
    before.push_back(op.spec.pad_before[i]), after.push_back(op.spec.pad_after[i]);
  before.push_back(0), after.push_back(0);
  const Tensor padded_x = ops::pad(x, before, after, padding_value);
  const Shape output_shape = pool_shape("max_pool", x.shape(), op.window, op.spec);
  Tensors windows;
  std::vector<int64_t> position_in_window(axis_count, 0);
  for (bool has_next_position = true; has_next_position;) {
    Slice slice;
    for (int i = 0; i < output_shape.rank(); ++i) {
      const bool is_spatial = i > 0 && i + 1 < output_shape.rank();
      slice.start.push_back(is_spatial ? position_in_window[i - 1] : 0);
      slice.stride.push_back(is_spatial ? op.spec.strides[i - 1] : 1);
      slice.size.push_back(output_shape[i]);
    }
    windows.push_back(apply1(slice, {padded_x}));
    has_next_position = false;
    for (size_t i = axis_count; i-- > 0 && !has_next_position;) {
      has_next_position = ++position_in_window[i] < op.window[i];
      if (!has_next_position) position_in_window[i] = 0;
    }
  }
  return ops::stack(windows, 0);
}

}  // namespace

std::string Pool::label() const { return max ? "max_pool" : "average_pool"; }
std::string PoolBackward::label() const {
  return max ? "max_pool_backward" : "average_pool_backward";
}

TensorSpecs Pool::infer(std::span<const TensorSpec> in) const {
  const char* name = max ? "max_pool" : "average_pool";
  expect_floating(name, in[0].dtype);
  return {{in[0].dtype, pool_shape(name, in[0].shape, window, spec)}};
}

Tensors Pool::vjp(const Vjp& v) const {
  PoolBackward op;
  op.max = max, op.window = window, op.spec = spec, op.input = v.inputs[0].shape();
  return {max ? apply1(op, {v.inputs[0], v.gradients[0]}) : apply1(op, {v.gradients[0]})};
}

TensorSpecs PoolBackward::infer(std::span<const TensorSpec> in) const {
  const TensorSpec& dy = in[max ? 1 : 0];
  const Shape result = with_batch(input, dy.shape[0]);
  const Shape expected_shape = pool_shape("pool_backward", result, window, spec);
  if (!expected_shape.compatible(dy.shape))
    fail("pool_backward: gradient ", dy.shape, " does not fit input ", result);
  return {{dy.dtype, result}};
}

Tensors PoolBackward::vjp(const Vjp& v) const {
  const Tensor& g = v.gradients[0];
  if (!max) {
    Pool op;
    op.max = false, op.window = window, op.spec = spec;
    return {apply1(op, {g})};
  }
  if (!v.wanted[1]) return Tensors(2);
  const Tensor argmax_indices = ops::argmax(windows_of(v.inputs[0], *this, -1e300), 0);
  const Tensor picked_gradients =
      ops::gather_along_axis(windows_of(g, *this, 0), ops::expand_dims(argmax_indices, 0), 0);
  return {Tensor(), ops::squeeze(picked_gradients, 0)};
}

namespace ops {
namespace {

Tensor pool(bool is_max, const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides,
            Padding padding) {
  const char* name = is_max ? "max_pool" : "average_pool";
  if (x.rank() < 3) fail(name, ": expected (batch, ..., channels), got shape ", x.shape());
  const size_t axis_count = spatial_rank(x.shape());
  Pool op;
  op.max = is_max;
  op.window = per_axis(name, std::move(window), axis_count, "window lengths");
  op.spec.strides =
      strides.empty() ? op.window : per_axis(name, std::move(strides), axis_count, "strides");
  op.spec.dilation.assign(axis_count, 1);
  for (size_t i = 0; i < axis_count; ++i) {
    if (op.spec.strides[i] < 1)
      fail(name, ": strides must be at least 1, got ", op.spec.strides[i]);
    pad_axis(op.spec, padding, x.dim(static_cast<int>(i) + 1), op.window[i], op.spec.strides[i]);
  }
  return apply1(op, {as_floating(x)});
}

}  // namespace

Tensor max_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides,
                Padding padding, DataFormat format) {
  return in_format(x, format, [&](const Tensor& images) {
    return pool(true, images, window, strides, padding);
  });
}
Tensor average_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides,
                    Padding padding, DataFormat format) {
  return in_format(x, format, [&](const Tensor& images) {
    return pool(false, images, window, strides, padding);
  });
}

}  // namespace ops
}  // namespace crescent
