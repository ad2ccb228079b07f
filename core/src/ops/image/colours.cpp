// Functions of colours: brightness, and conversion to and from HSV.
#include "crescent/ops/arguments.h"
#include "crescent/ops/image.h"
#include "ops/image/on_images.h"

namespace crescent::ops::image {
namespace {

Tensors colours_of(const char* name, const Tensor& images) {
  if (images.dim(-1) != 3) fail(name, ": expected three channels, got shape ", images.shape());
  return split(floating(images), {1, 1, 1}, -1);
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& x, DataFormat format) {
  return on_images("image.rgb_to_grayscale", x, format, [&](const Tensor& images) {
    const Tensors c = colours_of("image.rgb_to_grayscale", images);
    return cast(c[0] * 0.2989 + c[1] * 0.5870 + c[2] * 0.1140, x.dtype());
  });
}

Tensor rgb_to_hsv(const Tensor& x, DataFormat format) {
  return on_images("image.rgb_to_hsv", x, format, [&](const Tensor& images) {
    const Tensors c = colours_of("image.rgb_to_hsv", images);
    const Tensor value = maximum(maximum(c[0], c[1]), c[2]);
    const Tensor range = value - minimum(minimum(c[0], c[1]), c[2]);
    const Tensor coloured = greater(range, 0), lit = greater(value, 0);
    const Tensor saturation = where(lit, range / where(lit, value, 1.0), 0.0);
    const Tensor hue_unit = reciprocal(where(coloured, range, 1.0)) / 6.0;
    const Tensor hue = where(equal(c[0], value), hue_unit * (c[1] - c[2]),
                             where(equal(c[1], value), hue_unit * (c[2] - c[0]) + 2.0 / 6,
                                   hue_unit * (c[0] - c[1]) + 4.0 / 6));
    const Tensor known_hue = where(coloured, hue, 0.0);
    return concatenate(
        Tensors{where(less(known_hue, 0), known_hue + 1, known_hue), saturation, value}, -1);
  });
}

Tensor hsv_to_rgb(const Tensor& x, DataFormat format) {
  return on_images("image.hsv_to_rgb", x, format, [&](const Tensor& images) {
    const Tensors c = colours_of("image.hsv_to_rgb", images);
    const Tensor sector = c[0] * 6.0;
    const auto channel = [&](const Tensor& share) {
      return (1.0 - c[1] + c[1] * clip(share, 0, 1)) * c[2];
    };
    return concatenate(Tensors{channel(abs(sector - 3.0) - 1.0), channel(2.0 - abs(sector - 2.0)),
                               channel(2.0 - abs(sector - 4.0))},
                       -1);
  });
}

}  // namespace crescent::ops::image
