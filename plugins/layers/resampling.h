// Resampling of images.
#pragma once
#include <algorithm>
#include <string>

#include "../called_operations.h"

namespace crescent {

/// Resamples an axis to `new_size` elements: each new element is the old element in which the
/// centre of the new one lies.
inline Tensor resize_axis_to_nearest(const Tensor& x, int axis, int64_t new_size) {
  const int64_t old_size = x.dim(axis);
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < new_size; ++i)
    indices.push_back(int32_t(std::min((2 * i + 1) * old_size / (2 * new_size), old_size - 1)));
  return ops::gather(x, Tensor::from(indices, Shape{new_size}), axis);
}

/// Resizes images (batch, rows, columns, channels) along axes 1 and 2. With `antialias`, images
/// that become smaller are smoothed first.
inline Tensor resize_images_to(const Tensor& images, int64_t rows, int64_t columns,
                               const std::string& interpolation, bool antialias) {
  if (interpolation == "nearest")
    return resize_axis_to_nearest(resize_axis_to_nearest(images, 1, rows), 2, columns);
  return operation("image.resize", {{"images", boxed(images)},
                                    {"size", List{rows, columns}},
                                    {"interpolation", interpolation},
                                    {"antialias", antialias}});
}

}  // namespace crescent
