// Regions of images with the proportions of a target size.
#include <algorithm>
#include <cstring>

#include "data/images/image_size.h"

namespace crescent {

ImageRegion whole_image(const Tensor& image) { return {0, 0, image.dim(0), image.dim(1)}; }

ImageRegion central_region(const Tensor& image, ImageSize size) {
  check_image_size(size);
  const int64_t rows = image.dim(0), columns = image.dim(1);
  ImageRegion region;
  region.height = std::clamp<int64_t>(columns * size.height / size.width, 1, rows);
  region.width = std::clamp<int64_t>(rows * size.width / size.height, 1, columns);
  region.top = (rows - region.height) / 2;
  region.left = (columns - region.width) / 2;
  return region;
}

Tensor padded_to_aspect_ratio(const Tensor& image, ImageSize size) {
  check_image_size(size);
  const int64_t rows = image.dim(0), columns = image.dim(1), channels = image.dim(2);
  const int64_t tall = std::max(rows, columns * size.height / size.width),
                wide = std::max(columns, rows * size.width / size.height);
  Tensor padded({image.dtype(), {tall, wide, channels}});
  const size_t pixel = size_of(image.dtype()) * static_cast<size_t>(channels);
  const int64_t top = (tall - rows) / 2, left = (wide - columns) / 2;
  auto* to = static_cast<std::byte*>(padded.mutable_raw());
  const auto* from = static_cast<const std::byte*>(image.raw());
  for (int64_t y = 0; y < rows; ++y)
    std::memcpy(to + static_cast<size_t>((top + y) * wide + left) * pixel,
                from + static_cast<size_t>(y * columns) * pixel,
                static_cast<size_t>(columns) * pixel);
  return padded;
}

}  // namespace crescent
