// Images brought to other sizes.
#pragma once
#include <algorithm>
#include <string>

#include "../called_operations.h"

namespace crescent {

/// Along an axis, what the middle of each new cell lies in.
inline Tensor nearest(const Tensor& x, int axis, int64_t to) {
  const int64_t from = x.dim(axis);
  std::vector<int32_t> places;
  for (int64_t i = 0; i < to; ++i)
    places.push_back(int32_t(std::min((2 * i + 1) * from / (2 * to), from - 1)));
  return ops::gather(x, Tensor::from(places, Shape{to}), axis);
}

/// Axes 1 and 2 of images (batch, rows, columns, channels) brought to new sizes. Coarser results
/// are smoothed first when `antialias`.
inline Tensor resampled(const Tensor& images, int64_t rows, int64_t columns,
                        const std::string& interpolation, bool antialias) {
  if (interpolation == "nearest") return nearest(nearest(images, 1, rows), 2, columns);
  return operation("image.resize", {{"images", boxed(images)},
                                    {"size", List{rows, columns}},
                                    {"interpolation", interpolation},
                                    {"antialias", antialias}});
}

}  // namespace crescent
