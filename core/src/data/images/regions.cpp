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
  const int64_t padded_height = std::max(rows, columns * size.height / size.width),
                padded_width = std::max(columns, rows * size.width / size.height);
  Tensor result({image.dtype(), {padded_height, padded_width, channels}});
  const size_t pixel_bytes = size_of(image.dtype()) * static_cast<size_t>(channels);
  const int64_t top = (padded_height - rows) / 2, left = (padded_width - columns) / 2;
  auto* target_bytes = static_cast<std::byte*>(result.mutable_raw());
  const auto* image_bytes = static_cast<const std::byte*>(image.raw());
  for (int64_t y = 0; y < rows; ++y)
    std::memcpy(target_bytes + static_cast<size_t>((top + y) * padded_width + left) * pixel_bytes,
                image_bytes + static_cast<size_t>(y * columns) * pixel_bytes,
                static_cast<size_t>(columns) * pixel_bytes);
  return result;
}

}  // namespace crescent
