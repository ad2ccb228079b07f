// Convolution and pooling over 1, 2 or 3 spatial axes, channels last. The gradients of each are the others.
#include <algorithm>
#include <limits>

#include "crescent/ops.h"

namespace crescent {
namespace {

int64_t extent(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

/// Number of windows along one axis; unknown stays unknown.
int64_t window_count(int64_t n, int64_t window, int64_t stride, int64_t pads, const char* op, const Shape& input) {
  if (n < 0) return -1;
  const int64_t room = n + pads - window;
  if (room < 0)
    fail(op, ": computed output size would be negative: a window of ", window, " does not fit into ", n + pads, " elements of input shape ", input);
  return room / stride + 1;
}

Tensor convolve(const ConvSpec& spec, const Tensor& x, const Tensor& kernel) {
  Conv op;
  op.spec = spec;
  return apply1(op, {x, kernel});
}
Tensor backward_data(const ConvSpec& spec, const Tensor& dy, const Tensor& kernel, const Shape& input) {
  ConvBackwardData op;
  op.spec = spec;
  op.input = input;
  return apply1(op, {dy, kernel});
}
Tensor backward_kernel(const ConvSpec& spec, const Tensor& x, const Tensor& dy, const Shape& kernel) {
  ConvBackwardKernel op;
  op.spec = spec;
  op.kernel = kernel;
  return apply1(op, {x, dy});
}
Pool make_pool(bool max, const std::vector<int64_t>& window, const ConvSpec& spec) {
  Pool op;
  op.max = max;
  op.window = window;
  op.spec = spec;
  return op;
}

// ---- gradient of the gradient of max pooling --------------------------------------------------------------

/// x padded for the windows, then its elements at one offset of every window.
Tensor at_offset(const Tensor& x, const PoolBackward& op, const Shape& output, std::span<const int64_t> offset, double outside) {
  const int axes = int(op.window.size());
  std::vector<int64_t> before(x.rank(), 0), after(x.rank(), 0), start(x.rank(), 0), size(x.rank()), stride(x.rank(), 1);
  for (int i = 0; i < x.rank(); ++i) size[i] = x.dim(i);
  for (int i = 0; i < axes; ++i) {
    before[i + 1] = op.spec.pad_before[i];
    after[i + 1] = op.spec.pad_after[i];
    start[i + 1] = offset[i];
    size[i + 1] = output[i + 1];
    stride[i + 1] = op.spec.strides[i];
  }
  Slice slice;
  slice.start = start;
  slice.size = size;
  slice.stride = stride;
  return apply1(slice, {ops::pad(x, before, after, outside)});
}

/// Values of g where each window of x has its (first) largest element.
Tensor gather_largest(const Tensor& x, const Tensor& g, const PoolBackward& op, const Tensor& dy) {
  const Tensor largest = apply1(make_pool(true, op.window, op.spec), {x});
  std::vector<int64_t> offset(op.window.size(), 0);
  Tensor found = ops::zeros(dy.shape(), DType::boolean), result = ops::zeros(dy.shape(), dy.dtype());
  for (;;) {
    const Tensor here = ops::equal(at_offset(x, op, dy.shape(), offset, -std::numeric_limits<double>::infinity()), largest);
    const Tensor first = ops::logical_and(here, ops::logical_not(found));
    result = ops::where(first, at_offset(g, op, dy.shape(), offset, 0), result);
    found = ops::logical_or(found, here);
    size_t axis = offset.size();
    while (axis > 0 && ++offset[axis - 1] == op.window[axis - 1]) offset[--axis] = 0;
    if (axis == 0) return result;
  }
}

// ---- geometry of the free functions -------------------------------------------------------------------------

std::vector<int64_t> for_axes(std::vector<int64_t> values, int axes, const char* op, const char* what) {
  if (values.size() == 1) values.assign(axes, values[0]);
  if (int(values.size()) != axes) fail(op, ": expected 1 or ", axes, " ", what, ", got ", Value(values));
  for (int64_t v : values)
    if (v < 1) fail(op, ": ", what, " must be at least 1, got ", Value(values));
  return values;
}

/// TensorFlow's rule: the odd element of padding goes after.
void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t n, int64_t window, int64_t stride) {
  int64_t before = 0, after = 0;
  if (padding == ops::Padding::causal) before = window - 1;
  if (padding == ops::Padding::same) {
    const int64_t total = n < 0 ? std::max<int64_t>(window - stride, 0) : std::max<int64_t>(((n + stride - 1) / stride - 1) * stride + window - n, 0);
    before = total / 2;
    after = total - before;
  }
  spec.pad_before.push_back(before);
  spec.pad_after.push_back(after);
}

int spatial_axes(const Tensor& x, const char* op) {
  const int axes = x.rank() - 2;
  if (axes < 1 || axes > 3) fail(op, ": expected an input of shape (batch, 1 to 3 spatial axes, channels), got ", x.shape());
  return axes;
}

Tensor pool(bool max, const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, ops::Padding padding) {
  const char* op = max ? "max_pool" : "average_pool";
  const int axes = spatial_axes(x, op);
  window = for_axes(std::move(window), axes, op, "window sizes");
  ConvSpec spec;
  spec.strides = for_axes(std::move(strides), axes, op, "strides");
  spec.dilation.assign(axes, 1);
  for (int i = 0; i < axes; ++i) pad_axis(spec, padding, x.dim(i + 1), window[i], spec.strides[i]);
  return apply1(make_pool(max, window, spec), {x});
}

}  // namespace

size_t ConvSpec::hash() const {
  size_t seed = detail::hash_field(groups);
  for (const auto* field : {&strides, &dilation, &pad_before, &pad_after}) detail::mix(seed, detail::hash_field(*field));
  return seed;
}

std::string to_text(const ConvSpec& spec) {
  return concat("strides=", Value(spec.strides), " dilation=", Value(spec.dilation), " pad=", Value(spec.pad_before), "+", Value(spec.pad_after),
                " groups=", spec.groups);
}

TensorSpecs Conv::infer(std::span<const TensorSpec> inputs) const {
  const Shape &x = inputs[0].shape, &kernel = inputs[1].shape;
  const int axes = int(spec.strides.size());
  if (x.rank() != axes + 2 || kernel.rank() != axes + 2)
    fail("conv: expected input and kernel of ", axes + 2, " axes, got shapes ", x, " and ", kernel);
  if (inputs[0].dtype != inputs[1].dtype) fail("conv: dtypes differ: ", inputs[0].dtype, " and ", inputs[1].dtype);
  if (x[-1] >= 0 && x[-1] != kernel[-2] * spec.groups)
    fail("conv: input of shape ", x, " has ", x[-1], " channels, a kernel of shape ", kernel, " in ", spec.groups, " groups needs ", kernel[-2] * spec.groups);
  if (kernel[-1] % spec.groups != 0) fail("conv: ", kernel[-1], " output channels do not divide into ", spec.groups, " groups");
  Shape y{x[0]};
  for (int i = 0; i < axes; ++i)
    y.append(window_count(x[i + 1], extent(kernel[i], spec.dilation[i]), spec.strides[i], spec.pad_before[i] + spec.pad_after[i], "conv", x));
  y.append(kernel[-1]);
  return {{inputs[0].dtype, y}};
}

Tensors Conv::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &kernel = v.inputs[1], &g = v.gradients[0];
  Tensors result(v.inputs.size());
  if (v.wanted[0]) result[0] = backward_data(spec, g, kernel, x.shape());
  if (v.wanted[1]) result[1] = backward_kernel(spec, x, g, kernel.shape());
  return result;
}

TensorSpecs ConvBackwardData::infer(std::span<const TensorSpec> inputs) const {
  const Shape &dy = inputs[0].shape, &kernel = inputs[1].shape;
  if (dy.rank() != input.rank() || kernel.rank() != input.rank())
    fail("conv_transpose: expected input and kernel of ", input.rank(), " axes, got shapes ", dy, " and ", kernel);
  if (dy[-1] >= 0 && dy[-1] != kernel[-1]) fail("conv_transpose: input of shape ", dy, " has ", dy[-1], " channels, a kernel of shape ", kernel, " needs ", kernel[-1]);
  Shape dx = input;
  dx.set(0, dy[0]);
  return {{inputs[0].dtype, dx}};
}

Tensors ConvBackwardData::vjp(const Vjp& v) const {
  const Tensor &dy = v.inputs[0], &kernel = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) result[0] = convolve(spec, g, kernel);
  if (v.wanted[1]) result[1] = backward_kernel(spec, g, dy, kernel.shape());
  return result;
}

TensorSpecs ConvBackwardKernel::infer(std::span<const TensorSpec> inputs) const {
  if (inputs[0].shape.rank() != kernel.rank() || inputs[1].shape.rank() != kernel.rank())
    fail("conv_backward_kernel: expected ", kernel.rank(), " axes, got shapes ", inputs[0].shape, " and ", inputs[1].shape);
  return {{inputs[0].dtype, kernel}};
}

Tensors ConvBackwardKernel::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &dy = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) result[0] = backward_data(spec, dy, g, x.shape());
  if (v.wanted[1]) result[1] = convolve(spec, x, g);
  return result;
}

TensorSpecs Pool::infer(std::span<const TensorSpec> inputs) const {
  const Shape& x = inputs[0].shape;
  if (x.rank() != int(window.size()) + 2) fail("pool: expected an input of ", window.size() + 2, " axes, got shape ", x);
  Shape y{x[0]};
  for (size_t i = 0; i < window.size(); ++i)
    y.append(window_count(x[int(i) + 1], window[i], spec.strides[i], spec.pad_before[i] + spec.pad_after[i], "pool", x));
  y.append(x[-1]);
  return {{inputs[0].dtype, y}};
}

Tensors Pool::vjp(const Vjp& v) const {
  PoolBackward backward;
  backward.max = max;
  backward.window = window;
  backward.spec = spec;
  backward.input = v.inputs[0].shape();
  return {max ? apply1(backward, {v.inputs[0], v.gradients[0]}) : apply1(backward, {v.gradients[0]})};
}

TensorSpecs PoolBackward::infer(std::span<const TensorSpec> inputs) const {
  Shape dx = input;
  dx.set(0, inputs.back().shape[0]);
  return {{inputs.back().dtype, dx}};
}

/// Linear in dy; x only decides where values go.
Tensors PoolBackward::vjp(const Vjp& v) const {
  const Tensor& g = v.gradients[0];
  if (!max) return {apply1(make_pool(false, window, spec), {g})};
  return {Tensor(), v.wanted[1] ? gather_largest(v.inputs[0], g, *this, v.inputs[1]) : Tensor()};
}

namespace ops {

Tensor conv(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides, Padding padding, std::vector<int64_t> dilation, int64_t groups) {
  const int axes = spatial_axes(x, "conv");
  if (kernel.rank() != axes + 2) fail("conv: expected a kernel of ", axes + 2, " axes for an input of shape ", x.shape(), ", got ", kernel.shape());
  ConvSpec spec;
  spec.strides = for_axes(std::move(strides), axes, "conv", "strides");
  spec.dilation = for_axes(std::move(dilation), axes, "conv", "dilation rates");
  spec.groups = groups;
  if (groups < 1) fail("conv: groups must be at least 1, got ", groups);
  for (int i = 0; i < axes; ++i) pad_axis(spec, padding, x.dim(i + 1), extent(kernel.dim(i), spec.dilation[i]), spec.strides[i]);
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return convolve(spec, cast(x, dtype), cast(kernel, dtype));
}

/// Output lengths: n*s + max(k-s, 0) for valid, n*s for same, or (n-1)*s + k - 2*pad + output_padding (Keras).
Tensor conv_transpose(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides, Padding padding, std::vector<int64_t> dilation,
                      const std::vector<int64_t>& output_padding) {
  const int axes = spatial_axes(x, "conv_transpose");
  if (kernel.rank() != axes + 2)
    fail("conv_transpose: expected a kernel of ", axes + 2, " axes for an input of shape ", x.shape(), ", got ", kernel.shape());
  ConvSpec spec;
  spec.strides = for_axes(std::move(strides), axes, "conv_transpose", "strides");
  spec.dilation = for_axes(std::move(dilation), axes, "conv_transpose", "dilation rates");
  Shape output{x.dim(0)};
  for (int i = 0; i < axes; ++i) {
    const int64_t n = x.dim(i + 1), s = spec.strides[i], k = extent(kernel.dim(i), spec.dilation[i]);
    int64_t length, before, after;
    if (output_padding.empty()) {
      length = padding == Padding::same ? n * s : n * s + std::max<int64_t>(k - s, 0);
      const int64_t total = padding == Padding::same ? std::max<int64_t>(k - s, 0) : 0;
      before = total / 2;
      after = total - before;
    } else {
      before = after = padding == Padding::same ? k / 2 : 0;
      length = (n - 1) * s + k - 2 * before + output_padding[i];
    }
    output.append(n < 0 ? -1 : length);
    spec.pad_before.push_back(before);
    spec.pad_after.push_back(after);
  }
  output.append(kernel.dim(-2));
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return backward_data(spec, cast(x, dtype), cast(kernel, dtype), output);
}

Tensor max_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, Padding padding) {
  return pool(true, x, std::move(window), std::move(strides), padding);
}

Tensor average_pool(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> strides, Padding padding) {
  return pool(false, x, std::move(window), std::move(strides), padding);
}

}  // namespace ops
}  // namespace crescent
