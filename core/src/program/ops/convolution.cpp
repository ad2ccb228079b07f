// Convolution and pooling over 1 to 3 spatial axes, channels last.
#include "program/ops/support.h"

namespace crescent {
namespace {

size_t spatial_of(const Shape& shape) { return static_cast<size_t>(shape.rank() - 2); }

int64_t dilated(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

/// Places of a window along one axis; -1 when the length is unknown.
int64_t places(int64_t length, int64_t window, const ConvSpec& spec, size_t axis) {
  if (length < 0) return -1;
  const int64_t padded = length + spec.pad_before[axis] + spec.pad_after[axis];
  return padded < window ? 0 : (padded - window) / spec.strides[axis] + 1;
}

void expect_spatial(std::string_view op, const ConvSpec& spec, size_t spatial) {
  for (const auto* list : {&spec.strides, &spec.dilation, &spec.pad_before, &spec.pad_after}) {
    if (list->size() != spatial) fail(op, ": expected a value for each of ", spatial, " spatial axes, got ", list->size());
  }
  for (size_t i = 0; i < spatial; ++i) {
    for (const auto* list : {&spec.strides, &spec.dilation, &spec.pad_before, &spec.pad_after}) {
      if ((*list)[i] > kMostLength) fail(op, ": ", (*list)[i], " is too large for a stride, dilation or padding");
    }
    if (spec.strides[i] < 1) fail(op, ": strides must be at least 1, got ", spec.strides[i]);
    if (spec.dilation[i] < 1) fail(op, ": dilation must be at least 1, got ", spec.dilation[i]);
    if (spec.pad_before[i] < 0 || spec.pad_after[i] < 0) fail(op, ": padding cannot be negative");
  }
  if (spec.groups < 1 || spec.groups > kMostLength) fail(op, ": groups must be at least 1, got ", spec.groups);
}

/// Shape of the output of a convolution of `x` with `kernel`, with every check.
Shape conv_shape(std::string_view op, const Shape& x, const Shape& kernel, const ConvSpec& spec) {
  if (x.rank() < 3 || x.rank() > 5 || kernel.rank() != x.rank()) {
    fail(op, ": shapes ", x, " and ", kernel, " do not fit: expected (batch, spatial..., channels) and (spatial..., in, out)");
  }
  expect_spatial(op, spec, spatial_of(x));
  const int64_t channels = x[-1], in = kernel[-2], out = kernel[-1];
  if (channels >= 0 && in >= 0 && channels != in * spec.groups) {
    fail(op, ": shapes ", x, " and ", kernel, " do not fit: the input has ", channels, " channels, the kernel takes ",
         in * spec.groups);
  }
  if (out >= 0 && out % spec.groups != 0) fail(op, ": ", out, " filters cannot be divided into ", spec.groups, " groups");
  Shape result{x[0]};
  for (size_t i = 0; i < spatial_of(x); ++i) {
    const int axis = static_cast<int>(i);
    const int64_t n = places(x[axis + 1], dilated(kernel[axis], spec.dilation[i]), spec, i);
    if (n == 0 && x[axis + 1] != 0) {
      fail(op, ": the kernel ", kernel, " is larger than the padded input ", x, " along axis ", axis + 1);
    }
    result.append(n);
  }
  result.append(out);
  return result;
}

Shape pool_shape(std::string_view op, const Shape& x, const std::vector<int64_t>& window, const ConvSpec& spec) {
  if (x.rank() < 3 || x.rank() > 5 || window.size() != spatial_of(x)) {
    fail(op, ": a window of ", window.size(), " axes does not fit shape ", x);
  }
  expect_spatial(op, spec, window.size());
  Shape result{x[0]};
  for (size_t i = 0; i < window.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    if (window[i] < 1) fail(op, ": the window must be at least 1, got ", window[i]);
    if (spec.pad_before[i] >= window[i] || spec.pad_after[i] >= window[i]) fail(op, ": padding must be smaller than the window");
    const int64_t n = places(x[axis], window[i], spec, i);
    if (n == 0 && x[axis] != 0) fail(op, ": the window of ", window[i], " is larger than axis ", axis, " of shape ", x);
    result.append(n);
  }
  result.append(x[-1]);
  return result;
}

Shape with_batch(Shape shape, int64_t batch) {
  if (shape[0] < 0) shape.set(0, batch);
  return shape;
}

/// One value serves all axes.
std::vector<int64_t> per_axis(std::string_view op, std::vector<int64_t> values, size_t spatial, std::string_view what) {
  if (values.size() == 1) values.resize(spatial, values[0]);
  if (values.size() != spatial) fail(op, ": expected ", spatial, " ", what, ", got ", values.size());
  for (int64_t value : values) {
    if (value < 0 || value > kMostLength) fail(op, ": ", what, " cannot be ", value);
  }
  return values;
}

/// Appends the padding of one axis. `same` gives ceil(length / stride) places, the odd element behind.
void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t length, int64_t window, int64_t stride) {
  int64_t before = 0, total = 0;
  if (padding == ops::Padding::same && length >= 0) {
    total = std::max<int64_t>(((length + stride - 1) / stride - 1) * stride + window - length, 0);
    before = total / 2;
  } else if (padding == ops::Padding::causal) {
    before = total = window - 1;
  }
  spec.pad_before.push_back(before);
  spec.pad_after.push_back(total - before);
}

/// The windows of x side by side: (places in the window, batch, places..., channels). For the second derivative of max.
Tensor windows_of(const Tensor& x, const PoolBackward& op, double outside) {
  const size_t spatial = op.window.size();
  std::vector<int64_t> before{0}, after{0};
  for (size_t i = 0; i < spatial; ++i) before.push_back(op.spec.pad_before[i]), after.push_back(op.spec.pad_after[i]);
  before.push_back(0), after.push_back(0);
  const Tensor padded = ops::pad(x, before, after, outside);
  const Shape places = pool_shape("max_pool", x.shape(), op.window, op.spec);
  Tensors parts;
  std::vector<int64_t> at(spatial, 0);
  for (bool more = true; more;) {
    Slice slice;
    for (int i = 0; i < places.rank(); ++i) {
      const bool inner = i > 0 && i + 1 < places.rank();
      slice.start.push_back(inner ? at[static_cast<size_t>(i - 1)] : 0);
      slice.stride.push_back(inner ? op.spec.strides[static_cast<size_t>(i - 1)] : 1);
      slice.size.push_back(places[i]);
    }
    parts.push_back(apply1(slice, {padded}));
    more = false;
    for (size_t i = spatial; i-- > 0 && !more;) {
      more = ++at[i] < op.window[i];
      if (!more) at[i] = 0;
    }
  }
  return ops::stack(parts, 0);
}

}  // namespace

size_t ConvSpec::hash() const {
  size_t seed = static_cast<size_t>(groups);
  for (const auto* list : {&strides, &dilation, &pad_before, &pad_after}) detail::mix(seed, detail::hash_field(*list));
  return seed;
}

std::string to_text(const ConvSpec& spec) {
  auto list = [](const std::vector<int64_t>& values) { return detail::field_text(values); };
  return concat("strides ", list(spec.strides), " pads ", list(spec.pad_before), list(spec.pad_after), " dilation ",
                list(spec.dilation), " groups ", spec.groups);
}

TensorSpecs Conv::infer(std::span<const TensorSpec> in) const {
  if (in[0].dtype != in[1].dtype) fail("conv: dtypes ", in[0].dtype, " and ", in[1].dtype, " differ");
  expect_floating("conv", in[0].dtype);
  return {{in[0].dtype, conv_shape("conv", in[0].shape, in[1].shape, spec)}};
}

Tensors Conv::vjp(const Vjp& v) const {
  assert(!bias && epilogue == Epilogue::none);
  const Tensor &x = v.inputs[0], &kernel = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) {
    ConvBackwardData op;
    op.spec = spec, op.input = x.shape();
    result[0] = apply1(op, {g, kernel});
  }
  if (v.wanted[1]) {
    ConvBackwardKernel op;
    op.spec = spec, op.kernel = kernel.shape();
    result[1] = apply1(op, {x, g});
  }
  return result;
}

TensorSpecs ConvBackwardData::infer(std::span<const TensorSpec> in) const {
  const Shape result = with_batch(input, in[0].shape[0]);
  const Shape expected = conv_shape("conv_transpose", result, in[1].shape, spec);
  if (!expected.compatible(in[0].shape)) {
    fail("conv_transpose: shapes ", shapes_text(in), " do not fit: expected an input of shape ", expected, " for output ", result);
  }
  if (in[0].dtype != in[1].dtype) fail("conv_transpose: dtypes ", in[0].dtype, " and ", in[1].dtype, " differ");
  expect_floating("conv_transpose", in[0].dtype);
  return {{in[0].dtype, result}};
}

Tensors ConvBackwardData::vjp(const Vjp& v) const {
  const Tensor &dy = v.inputs[0], &kernel = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) {
    Conv op;
    op.spec = spec;
    result[0] = apply1(op, {g, kernel});
  }
  if (v.wanted[1]) {
    ConvBackwardKernel op;
    op.spec = spec, op.kernel = kernel.shape();
    result[1] = apply1(op, {g, dy});
  }
  return result;
}

TensorSpecs ConvBackwardKernel::infer(std::span<const TensorSpec> in) const {
  const Shape expected = conv_shape("conv_backward_kernel", in[0].shape, kernel, spec);
  if (!expected.compatible(in[1].shape)) {
    fail("conv_backward_kernel: shapes ", shapes_text(in), " do not fit a kernel of shape ", kernel);
  }
  return {{in[0].dtype, kernel}};
}

Tensors ConvBackwardKernel::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &dy = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) {
    ConvBackwardData op;
    op.spec = spec, op.input = x.shape();
    result[0] = apply1(op, {dy, g});
  }
  if (v.wanted[1]) {
    Conv op;
    op.spec = spec;
    result[1] = apply1(op, {x, g});
  }
  return result;
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
  const Shape expected = pool_shape("pool_backward", result, window, spec);
  if (!expected.compatible(dy.shape)) fail("pool_backward: gradient ", dy.shape, " does not fit input ", result);
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
  const Tensor first = ops::argmax(windows_of(v.inputs[0], *this, -1e300), 0);
  const Tensor picked = ops::take_along_axis(windows_of(g, *this, 0), ops::expand_dims(first, 0), 0);
  return {Tensor(), ops::squeeze(picked, 0)};
}

namespace ops {

Tensor conv(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides, Padding padding,
            std::vector<int64_t> dilation, int64_t groups) {
  expect_rank_at_least("conv", x.shape(), 3);
  if (kernel.rank() != x.rank()) conv_shape("conv", x.shape(), kernel.shape(), {});
  const size_t spatial = spatial_of(x.shape());
  Conv op;
  op.spec.strides = per_axis("conv", std::move(strides), spatial, "strides");
  op.spec.dilation = per_axis("conv", std::move(dilation), spatial, "dilation values");
  op.spec.groups = groups;
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = static_cast<int>(i);
    if (op.spec.strides[i] < 1) fail("conv: strides must be at least 1, got ", op.spec.strides[i]);
    pad_axis(op.spec, padding, x.dim(axis + 1), dilated(kernel.dim(axis), op.spec.dilation[i]), op.spec.strides[i]);
  }
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return apply1(op, {cast(x, dtype), cast(kernel, dtype)});
}

/// The gradient of the convolution that would lead from the output back to x.
Tensor conv_transpose(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides, Padding padding,
                      std::vector<int64_t> dilation, const std::vector<int64_t>& output_padding) {
  expect_rank_at_least("conv_transpose", x.shape(), 3);
  if (kernel.rank() != x.rank()) {
    fail("conv_transpose: shapes ", x.shape(), " and ", kernel.shape(), " do not fit: expected (batch, spatial..., in) and (spatial..., out, in)");
  }
  const size_t spatial = spatial_of(x.shape());
  ConvBackwardData op;
  op.spec.strides = per_axis("conv_transpose", std::move(strides), spatial, "strides");
  op.spec.dilation = per_axis("conv_transpose", std::move(dilation), spatial, "dilation values");
  const std::vector<int64_t> extra =
      output_padding.empty() ? output_padding : per_axis("conv_transpose", output_padding, spatial, "output paddings");
  op.input = Shape{x.dim(0)};
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = static_cast<int>(i);
    const int64_t length = x.dim(axis + 1), stride = op.spec.strides[i];
    const int64_t window = dilated(kernel.dim(axis), op.spec.dilation[i]);
    int64_t result = -1;
    if (!extra.empty() && extra[i] >= stride) fail("conv_transpose: output padding ", extra[i], " must be less than stride ", stride);
    if (length >= 0 && extra.empty()) {
      result = padding == Padding::same ? length * stride : length * stride + std::max<int64_t>(window - stride, 0);
    } else if (length >= 0) {
      const int64_t crop = padding == Padding::same ? window / 2 * 2 : 0;
      result = (length - 1) * stride + window - crop + extra[i];
    }
    op.input.append(result);
    int64_t before = 0, total = 0;
    if (padding == Padding::same && result >= 0) {
      total = std::max<int64_t>((length - 1) * stride + window - result, 0);
      before = total / 2;
    }
    op.spec.pad_before.push_back(before);
    op.spec.pad_after.push_back(total - before);
  }
  op.input.append(kernel.dim(-2));
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return apply1(op, {cast(x, dtype), cast(kernel, dtype)});
}

namespace {

Tensor pool(bool max, const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, Padding padding) {
  const char* name = max ? "max_pool" : "average_pool";
  expect_rank_at_least(name, x.shape(), 3);
  const size_t spatial = spatial_of(x.shape());
  Pool op;
  op.max = max;
  op.window = per_axis(name, std::move(window), spatial, "window lengths");
  op.spec.strides = strides.empty() ? op.window : per_axis(name, std::move(strides), spatial, "strides");
  op.spec.dilation.assign(spatial, 1);
  for (size_t i = 0; i < spatial; ++i) {
    if (op.spec.strides[i] < 1) fail(name, ": strides must be at least 1, got ", op.spec.strides[i]);
    pad_axis(op.spec, padding, x.dim(static_cast<int>(i) + 1), op.window[i], op.spec.strides[i]);
  }
  return apply1(op, {as_floating(x)});
}

}  // namespace

Tensor max_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, Padding padding) {
  return pool(true, x, std::move(window), std::move(strides), padding);
}
Tensor average_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, Padding padding) {
  return pool(false, x, std::move(window), std::move(strides), padding);
}

}  // namespace ops
}  // namespace crescent
