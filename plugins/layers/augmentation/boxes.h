// Random rectangles in images.
#pragma once
#include "augmentation.h"

namespace crescent {

struct Box {
  Tensor is_inside;      ///< bool (batch, height, width, 1)
  Tensor area_fraction;  ///< the area of the rectangle as a fraction of the image, (batch, 1)
};

/// A rectangle at a random position in each image. Its width and height are the fractions
/// `width_fraction` and `height_fraction`, (batch, 1), of the width and height of the image.
inline Box random_box(const TensorSpec& images, const Tensor& width_fraction,
                      const Tensor& height_fraction, const SeedGenerator& random) {
  const int64_t batch = images.shape[0];
  const auto is_inside_along = [&](int axis, const Tensor& fraction) {
    const int64_t extent = images.shape[axis];
    const Tensor length = fraction * double(extent);
    const Tensor start = random.uniform({batch, 1}, 0, 1, images.dtype) * (double(extent) - length);
    const Tensor position = ops::reshape(ops::arange(extent, images.dtype), {1, extent});
    const Tensor is_inside =
        ops::logical_and(ops::greater_equal(position, start), ops::less(position, start + length));
    Shape shape{batch, 1, 1, 1};
    shape.set(axis, extent);
    return ops::reshape(is_inside, shape);
  };
  const Tensor columns = is_inside_along(2, width_fraction);
  return {ops::logical_and(is_inside_along(1, height_fraction), columns),
          width_fraction * height_fraction};
}

}  // namespace crescent
