// Convolution over 1 to 3 spatial axes, its two gradients, and the transposed convolution.
#include "ops/formats.h"
#include "ops/windows.h"

namespace crescent {
namespace {

/// Checks the arguments and returns the shape of the output of a convolution of `x` with `kernel`.
Shape conv_shape(std::string_view op, const Shape& x, const Shape& kernel, const ConvSpec& spec) {
  if (x.rank() < 3 || x.rank() > 5 || kernel.rank() != x.rank()) {
    fail(op, ": shapes ", x, " and ", kernel,
         " do not fit: expected (batch, spatial..., channels) and (spatial..., in, out)");
  }
  expect_spatial(op, spec, spatial_rank(x));
  const int64_t channels = x[-1], in_channels = kernel[-2], out_channels = kernel[-1];
  if (channels >= 0 && in_channels >= 0 && channels != in_channels * spec.groups) {
    fail(op, ": shapes ", x, " and ", kernel, " do not fit: the input has ", channels,
         " channels, the kernel takes ", in_channels * spec.groups);
  }
  if (out_channels >= 0 && out_channels % spec.groups != 0)
    fail(op, ": ", out_channels, " filters cannot be divided into ", spec.groups, " groups");
  Shape result{x[0]};
  for (size_t i = 0; i < spatial_rank(x); ++i) {
    const int axis = static_cast<int>(i);
    const int64_t position_count =
        window_count(x[axis + 1], dilated_size(kernel[axis], spec.dilation[i]), spec, i);
    if (position_count == 0 && x[axis + 1] != 0) {
      fail(op, ": the kernel ", kernel, " is larger than the padded input ", x, " along axis ",
           axis + 1);
    }
    result.append(position_count);
  }
  result.append(out_channels);
  return result;
}

}  // namespace

TensorSpecs Conv::infer(std::span<const TensorSpec> in) const {
  if (in[0].dtype != in[1].dtype)
    fail("conv: dtypes ", in[0].dtype, " and ", in[1].dtype, " differ");
  expect_floating("conv", in[0].dtype);
  return {{in[0].dtype, conv_shape("conv", in[0].shape, in[1].shape, spec)}};
}

Tensors Conv::decompose(std::span<const Tensor> inputs) const {
  if (!sums_nothing(inputs[0], inputs[1])) return {};
  const Shape shape = conv_shape("conv", inputs[0].shape(), inputs[1].shape(), spec);
  return {ops::zeros(shape, inputs[0].dtype())};
}

Tensors Conv::vjp(const Vjp& v) const {
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
  const Shape expected_shape = conv_shape("conv_transpose", result, in[1].shape, spec);
  if (!expected_shape.compatible(in[0].shape)) {
    fail("conv_transpose: shapes ", shapes_text(in), " do not fit: expected an input of shape ",
         expected_shape, " for output ", result);
  }
  if (in[0].dtype != in[1].dtype)
    fail("conv_transpose: dtypes ", in[0].dtype, " and ", in[1].dtype, " differ");
  expect_floating("conv_transpose", in[0].dtype);
  return {{in[0].dtype, result}};
}

Tensors ConvBackwardData::decompose(std::span<const Tensor> inputs) const {
  if (!sums_nothing(inputs[0], inputs[1])) return {};
  return {ops::zeros(with_batch(input, inputs[0].dim(0)), inputs[0].dtype())};
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
  const Shape expected_shape = conv_shape("conv_backward_kernel", in[0].shape, kernel, spec);
  if (!expected_shape.compatible(in[1].shape)) {
    fail("conv_backward_kernel: shapes ", shapes_text(in), " do not fit a kernel of shape ",
         kernel);
  }
  return {{product_dtype("conv_backward_kernel", in[0].dtype, in[1].dtype), kernel}};
}

Tensors ConvBackwardKernel::decompose(std::span<const Tensor> inputs) const {
  return sums_nothing(inputs[0], inputs[1]) ? Tensors{ops::zeros(kernel, inputs[0].dtype())}
                                            : Tensors();
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

ConvSpec conv_spec(const Shape& x, const Shape& kernel, std::vector<int64_t> strides,
                   ops::Padding padding, std::vector<int64_t> dilation) {
  const size_t axis_count = spatial_rank(x);
  ConvSpec spec;
  spec.strides = per_axis("conv", std::move(strides), axis_count, "strides");
  spec.dilation = per_axis("conv", std::move(dilation), axis_count, "dilation values");
  for (size_t i = 0; i < axis_count; ++i) {
    const int axis = static_cast<int>(i);
    if (spec.strides[i] < 1) fail("conv: strides must be at least 1, got ", spec.strides[i]);
    pad_axis(spec, padding, x[axis + 1], dilated_size(kernel[axis], spec.dilation[i]),
             spec.strides[i]);
  }
  return spec;
}

namespace ops {

namespace {

/// The number of groups into which a kernel divides the channels.
int64_t group_count(const Tensor& x, const Tensor& kernel) {
  const int64_t in_channels = kernel.dim(-2), channels = x.dim(-1);
  if (in_channels < 0 || channels < 0 || in_channels == channels) return 1;
  if (in_channels == 0 || channels % in_channels != 0)
    fail("conv: shapes ", x.shape(), " and ", kernel.shape(), " do not fit: the input has ",
         channels, " channels, which the ", in_channels, " of the kernel do not divide");
  return channels / in_channels;
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides, Padding padding,
            std::vector<int64_t> dilation, std::optional<int64_t> groups, DataFormat format) {
  if (format == DataFormat::channels_first)
    return in_format(x, format, [&](const Tensor& images) {
      return conv(images, kernel, strides, padding, dilation, groups);
    });
  expect_rank_at_least("conv", x.shape(), 3);
  if (kernel.rank() != x.rank()) conv_shape("conv", x.shape(), kernel.shape(), {});
  Conv op;
  op.spec = conv_spec(x.shape(), kernel.shape(), std::move(strides), padding, std::move(dilation));
  op.spec.groups = groups ? *groups : group_count(x, kernel);
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return apply1(op, {cast(x, dtype), cast(kernel, dtype)});
}

namespace {

/// Keras' rule for the length of a transposed convolution's output.
int64_t transposed_length(int64_t length, int64_t window, int64_t stride, Padding padding,
                          std::optional<int64_t> output_padding) {
  if (length < 0) return -1;
  const bool is_same_padding = padding == Padding::same;
  if (!output_padding)
    return length * stride + (is_same_padding ? 0 : std::max<int64_t>(window - stride, 0));
  if (*output_padding >= stride)
    fail("conv_transpose: output padding ", *output_padding, " must be less than stride ", stride);
  return std::max<int64_t>(
      (length - 1) * stride + window - (is_same_padding ? window / 2 * 2 : 0) + *output_padding, 0);
}

}  // namespace

/// A transposed convolution is computed as the gradient of a convolution with respect to its input,
/// where x is the gradient with respect to the output of that convolution.
Tensor conv_transpose(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides,
                      Padding padding, std::vector<int64_t> dilation,
                      const std::vector<int64_t>& output_padding, DataFormat format) {
  if (format == DataFormat::channels_first)
    return in_format(x, format, [&](const Tensor& images) {
      return conv_transpose(images, kernel, strides, padding, dilation, output_padding);
    });
  expect_rank_at_least("conv_transpose", x.shape(), 3);
  if (kernel.rank() != x.rank()) {
    fail("conv_transpose: shapes ", x.shape(), " and ", kernel.shape(),
         " do not fit: expected (batch, spatial..., in) and (spatial..., out, in)");
  }
  const size_t axis_count = spatial_rank(x.shape());
  ConvBackwardData op;
  op.spec.strides = per_axis("conv_transpose", std::move(strides), axis_count, "strides");
  op.spec.dilation = per_axis("conv_transpose", std::move(dilation), axis_count, "dilation values");
  std::vector<int64_t> extra_padding = output_padding;
  if (!extra_padding.empty())
    extra_padding =
        per_axis("conv_transpose", std::move(extra_padding), axis_count, "output paddings");
  op.input = Shape{x.dim(0)};
  for (size_t i = 0; i < axis_count; ++i) {
    const int axis = static_cast<int>(i);
    const int64_t length = x.dim(axis + 1), stride = op.spec.strides[i];
    const int64_t window = dilated_size(kernel.dim(axis), op.spec.dilation[i]);
    const int64_t result =
        transposed_length(length, window, stride, padding,
                          extra_padding.empty() ? std::nullopt : std::optional(extra_padding[i]));
    op.input.append(result);
    const bool has_padded_size = padding == Padding::same && result >= 0;
    append_padding(op.spec, has_padded_size
                                ? std::max<int64_t>((length - 1) * stride + window - result, 0)
                                : 0);
  }
  op.input.append(kernel.dim(-2));
  const DType dtype = promote(x.dtype(), kernel.dtype());
  return apply1(op, {cast(x, dtype), cast(kernel, dtype)});
}

}  // namespace ops
}  // namespace crescent
