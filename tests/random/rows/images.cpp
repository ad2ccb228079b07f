// Generators of random calls (CallGenerator in draft.h) for convolutions, pooling and patches.
#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

constexpr int64_t kMaxProducts = 3'000'000;
constexpr int64_t kSides[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17};
constexpr int64_t kChannels[] = {1, 2, 3, 4, 5, 8, 16, 17, 24, 32, 33};

/// Images (batch, spatial..., channels): an earlier value or a new input.
int images(Draft& d, int axis_count) {
  const auto accepts = [&](const TensorSpec& s) {
    bool fits = is_floating(s.dtype) && s.shape.rank() == axis_count + 2 && s.shape[-1] <= 64;
    for (int i = 1; fits && i <= axis_count; ++i) fits = s.shape[i] <= 40;
    return fits;
  };
  return d.operand(accepts, [&] {
    Shape shape{1 + d.choices.below(4)};
    for (int i = 0; i < axis_count; ++i) shape.append(d.choices.one_of(kSides));
    shape.append(d.choices.one_of(kChannels));
    if (shape.size() > d.max_elements()) fail("too large");
    return TensorSpec{d.floating_dtype(), shape};
  });
}

Value padding(Draft& d) { return d.choices.one_in(2) ? "same" : "valid"; }

int spatial_axis_count(Draft& d) {
  constexpr int kAxes[] = {2, 1, 2, 3};
  return d.choices.one_of(kAxes);
}

/// Adds to y at random a bias, a residual, a normalization and an activation.
int with_epilogue(Draft& d, int y) {
  y = d.call("multiply", {{"x1", y}, {"x2", Value(0.25)}});
  const TensorSpec channel_spec{d.dtype(y), {d.shape(y)[-1]}};
  if (d.choices.one_in(2)) y = d.call("add", {{"x1", y}, {"x2", d.input(channel_spec)}});
  if (d.choices.one_in(4)) y = d.call("add", {{"x1", y}, {"x2", d.same_shape(y)}});
  constexpr const char* kActivations[] = {"relu", "", "sigmoid", "tanh", "silu"};
  const std::string activation = d.choices.one_of(kActivations);
  if (!activation.empty()) y = d.call(activation, {{"x", y}});
  if (!d.choices.one_in(4)) return y;
  return d.call(d.choices.one_in(2) ? "max_pool" : "average_pool",
                {{"inputs", y}, {"pool_size", Value(2)}, {"padding", Value("same")}});
}

int conv_call(Draft& d) {
  const int axis_count = spatial_axis_count(d), x = images(d, axis_count);
  const int64_t channels_in = d.shape(x)[-1], out_channels = d.choices.one_of(kChannels),
                groups =
                    d.choices.one_in(4) && channels_in % 2 == 0 && out_channels % 2 == 0 ? 2 : 1;
  Shape kernel;
  for (int i = 0; i < axis_count; ++i)
    kernel.append(d.choices.one_in(3) ? 1 + d.choices.below(4) : 3);
  if (d.choices.one_in(3))
    for (int i = 0; i < axis_count; ++i) kernel.set(i, 1);
  kernel.append(channels_in / groups), kernel.append(out_channels);
  if (d.shape(x).size() * kernel.size() / channels_in > kMaxProducts) fail("too many products");
  const int w = d.input({d.dtype(x), kernel});
  const int64_t strides = 1 + d.choices.below(2),
                dilation = strides == 1 && d.choices.one_in(4) ? 2 : 1;
  return with_epilogue(d, d.call("conv", {{"inputs", x},
                                          {"kernel", w},
                                          {"strides", Value(strides)},
                                          {"padding", padding(d)},
                                          {"dilation_rate", Value(dilation)}}));
}

int depthwise_conv(Draft& d) {
  const int axis_count = 1 + static_cast<int>(d.choices.below(2)), x = images(d, axis_count);
  Shape kernel;
  for (int i = 0; i < axis_count; ++i) kernel.append(3 + 2 * d.choices.below(2));
  kernel.append(d.shape(x)[-1]), kernel.append(1 + d.choices.below(2));
  if (d.shape(x).size() * kernel.size() > 20 * kMaxProducts) fail("too many products");
  const int w = d.input({d.dtype(x), kernel});
  return with_epilogue(d, d.call("depthwise_conv", {{"inputs", x},
                                                    {"kernel", w},
                                                    {"strides", Value(1 + d.choices.below(2))},
                                                    {"padding", padding(d)}}));
}

int separable_conv(Draft& d) {
  const int x = images(d, 2);
  const int64_t channels_in = d.shape(x)[-1], out = d.choices.one_of(kChannels);
  const int depthwise = d.input({d.dtype(x), {3, 3, channels_in, 1}}),
            pointwise = d.input({d.dtype(x), {1, 1, channels_in, out}});
  return with_epilogue(d, d.call("separable_conv", {{"inputs", x},
                                                    {"depthwise_kernel", depthwise},
                                                    {"pointwise_kernel", pointwise},
                                                    {"padding", padding(d)}}));
}

int conv_transpose(Draft& d) {
  const int axis_count = spatial_axis_count(d), x = images(d, axis_count);
  Shape kernel;
  for (int i = 0; i < axis_count; ++i) kernel.append(1 + d.choices.below(4));
  kernel.append(d.choices.one_of(kChannels)), kernel.append(d.shape(x)[-1]);
  if (d.shape(x).size() * kernel.size() / d.shape(x)[-1] > kMaxProducts) fail("too many products");
  const int w = d.input({d.dtype(x), kernel});
  return with_epilogue(d, d.call("conv_transpose", {{"inputs", x},
                                                    {"kernel", w},
                                                    {"strides", Value(1 + d.choices.below(2))},
                                                    {"padding", padding(d)}}));
}

int pool(Draft& d, const char* function) {
  const int x = images(d, spatial_axis_count(d));
  const int64_t size = 1 + d.choices.below(3), strides = 1 + d.choices.below(3);
  return d.call(function, {{"inputs", x},
                           {"pool_size", Value(size)},
                           {"strides", Value(strides)},
                           {"padding", padding(d)}});
}

int extract_patches(Draft& d) {
  const int x = images(d, 2);
  return d.call("image.extract_patches", {{"images", x},
                                          {"size", Value(1 + d.choices.below(3))},
                                          {"strides", Value(1 + d.choices.below(2))},
                                          {"padding", padding(d)}});
}

int resize(Draft& d) {
  const int x = images(d, 2);
  constexpr const char* kInterpolations[] = {"bilinear", "nearest", "bicubic"};
  const int64_t height = d.choices.one_of(kSides), width = d.choices.one_of(kSides);
  return d.call("image.resize", {{"images", x},
                                 {"size", Value(List{Value(height), Value(width)})},
                                 {"interpolation", Value(d.choices.one_of(kInterpolations))}});
}

int block_function(Draft& d, const char* function) {
  return d.call(function, {{"x", images(d, 2)}, {"block_size", Value(2)}});
}

/// A function on images with three channels.
int color_function(Draft& d, const char* function) {
  const int64_t height = d.choices.one_of(kSides), width = d.choices.one_of(kSides);
  const int x = d.input({d.floating_dtype(), {2, height, width, 3}});
  return d.call(function, {{"images", d.call("sigmoid", {{"x", x}})}});
}

int image_function(Draft& d, const char* function) {
  return d.call(function, {{"images", images(d, 2)}});
}

int crop_images(Draft& d) {
  const int x = images(d, 2);
  return d.call("image.crop_images", {{"images", x},
                                      {"top_cropping", Value(d.choices.below(2))},
                                      {"left_cropping", Value(d.choices.below(2))},
                                      {"bottom_cropping", Value(d.choices.below(2))},
                                      {"right_cropping", Value(d.choices.below(2))}});
}

int pad_images(Draft& d) {
  const int x = images(d, 2);
  return d.call("image.pad_images", {{"images", x},
                                     {"top_padding", Value(d.choices.below(3))},
                                     {"left_padding", Value(d.choices.below(3))},
                                     {"bottom_padding", Value(d.choices.below(3))},
                                     {"right_padding", Value(d.choices.below(3))}});
}

int volumes(Draft& d) {
  return d.call("image.extract_patches_3d",
                {{"volumes", images(d, 3)}, {"size", Value(1 + d.choices.below(2))}});
}

int unfold(Draft& d) {
  const int x = images(d, 2);
  return d.call("unfold", {{"x", x},
                           {"kernel_size", Value(1 + d.choices.below(2))},
                           {"padding", Value(d.choices.below(2))},
                           {"stride", Value(1 + d.choices.below(2))}});
}

int fold(Draft& d) {
  const int64_t batch = 1 + d.choices.below(2), channels = 1 + d.choices.below(3);
  const int x = d.input({d.floating_dtype(), {batch, channels * 4, 12}});
  return d.call("fold", {{"x", x}, {"output_size", Value(List{4, 5})}, {"kernel_size", Value(2)}});
}

int adaptive_pool(Draft& d, const char* function) {
  const int x = images(d, 2);
  return d.call(function, {{"inputs", x}, {"output_size", Value(1 + d.choices.below(3))}});
}

}  // namespace

std::vector<CallGenerator> image_generators() {
  std::vector<CallGenerator> generators;
  for (int i = 0; i < 4; ++i) generators.push_back({"conv", conv_call});
  const CallGenerator more_generators[] = {
      {"depthwise_conv", depthwise_conv},
      {"depthwise_conv", depthwise_conv},
      {"separable_conv", separable_conv},
      {"conv_transpose", conv_transpose},
      {"conv_transpose", conv_transpose},
      {"max_pool", [](Draft& d) { return pool(d, "max_pool"); }},
      {"max_pool", [](Draft& d) { return pool(d, "max_pool"); }},
      {"average_pool", [](Draft& d) { return pool(d, "average_pool"); }},
      {"image.extract_patches", extract_patches},
      {"image.resize", resize},
      {"image.rgb_to_grayscale",
       [](Draft& d) { return color_function(d, "image.rgb_to_grayscale"); }},
      {"image.rgb_to_hsv", [](Draft& d) { return color_function(d, "image.rgb_to_hsv"); }},
      {"image.hsv_to_rgb", [](Draft& d) { return color_function(d, "image.hsv_to_rgb"); }},
      {"image.sobel_edges", [](Draft& d) { return image_function(d, "image.sobel_edges"); }},
      {"image.gaussian_blur", [](Draft& d) { return image_function(d, "image.gaussian_blur"); }},
      {"image.crop_images", crop_images},
      {"image.pad_images", pad_images},
      {"image.extract_patches_3d", volumes},
      {"unfold", unfold},
      {"fold", fold},
      {"depth_to_space", [](Draft& d) { return block_function(d, "depth_to_space"); }},
      {"space_to_depth", [](Draft& d) { return block_function(d, "space_to_depth"); }},
      {"adaptive_max_pool", [](Draft& d) { return adaptive_pool(d, "adaptive_max_pool"); }},
      {"adaptive_average_pool", [](Draft& d) { return adaptive_pool(d, "adaptive_average_pool"); }},
  };
  generators.insert(generators.end(), std::begin(more_generators), std::end(more_generators));
  return generators;
}

}  // namespace crescent::random_programs
