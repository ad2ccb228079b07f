// Random rectangles in images.
#pragma once
#include "augmentation.h"

namespace crescent {

struct Box {
  Tensor inside;  ///< bool (batch, height, width, 1)
  Tensor share;   ///< the area of the rectangle as a fraction of the image, (batch, 1)
};

/// A rectangle at a random position in each image. Its width and height are the fractions `wide`
/// and `high`, (batch, 1), of the width and height of the image.
inline Box random_box(const TensorSpec& images, const Tensor& wide, const Tensor& high,
                      const SeedGenerator& random) {
  const int64_t batch = images.shape[0];
  const auto side = [&](int axis, const Tensor& share) {
    const int64_t extent = images.shape[axis];
    const Tensor length = share * double(extent);
    const Tensor first = random.uniform({batch, 1}, 0, 1, images.dtype) * (double(extent) - length);
    const Tensor position = ops::reshape(ops::arange(extent, images.dtype), {1, extent});
    const Tensor inside =
        ops::logical_and(ops::greater_equal(position, first), ops::less(position, first + length));
    Shape shape{batch, 1, 1, 1};
    shape.set(axis, extent);
    return ops::reshape(inside, shape);
  };
  const Tensor columns = side(2, wide);
  return {ops::logical_and(side(1, high), columns), wide * high};
}

}  // namespace crescent
