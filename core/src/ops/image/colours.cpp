// Functions of colours: brightness, and conversion to and from HSV.
#include "crescent/ops/arguments.h"
#include "crescent/ops/image.h"
#include "ops/image/on_images.h"

namespace crescent::ops::image {
namespace {

Tensors channels_of(const char* name, const Tensor& images) {
  if (images.dim(-1) != 3) fail(name, ": expected three channels, got shape ", images.shape());
  return split(floating(images), {1, 1, 1}, -1);
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& x, DataFormat format) {
  return on_images("image.rgb_to_grayscale", x, format, [&](const Tensor& images) {
    const Tensors channels = channels_of("image.rgb_to_grayscale", images);
    return cast(channels[0] * 0.2989 + channels[1] * 0.5870 + channels[2] * 0.1140, x.dtype());
  });
}

Tensor rgb_to_hsv(const Tensor& x, DataFormat format) {
  return on_images("image.rgb_to_hsv", x, format, [&](const Tensor& images) {
    const Tensors channels = channels_of("image.rgb_to_hsv", images);
    const Tensor value = maximum(maximum(channels[0], channels[1]), channels[2]);
    const Tensor range = value - minimum(minimum(channels[0], channels[1]), channels[2]);
    const Tensor is_coloured = greater(range, 0), is_not_black = greater(value, 0);
    const Tensor saturation = where(is_not_black, range / where(is_not_black, value, 1.0), 0.0);
    const Tensor hue_unit = reciprocal(where(is_coloured, range, 1.0)) / 6.0;
    const Tensor hue =
        where(equal(channels[0], value), hue_unit * (channels[1] - channels[2]),
              where(equal(channels[1], value), hue_unit * (channels[2] - channels[0]) + 2.0 / 6,
                    hue_unit * (channels[0] - channels[1]) + 4.0 / 6));
    const Tensor known_hue = where(is_coloured, hue, 0.0);
    return concatenate(
        Tensors{where(less(known_hue, 0), known_hue + 1, known_hue), saturation, value}, -1);
  });
}

Tensor hsv_to_rgb(const Tensor& x, DataFormat format) {
  return on_images("image.hsv_to_rgb", x, format, [&](const Tensor& images) {
    const Tensors channels = channels_of("image.hsv_to_rgb", images);
    const Tensor sector = channels[0] * 6.0;
    const auto channel = [&](const Tensor& channel_weight) {
      return (1.0 - channels[1] + channels[1] * clip(channel_weight, 0, 1)) * channels[2];
    };
    return concatenate(Tensors{channel(abs(sector - 3.0) - 1.0), channel(2.0 - abs(sector - 2.0)),
                               channel(2.0 - abs(sector - 4.0))},
                       -1);
  });
}

}  // namespace crescent::ops::image
