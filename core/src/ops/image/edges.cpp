// Padding and cropping of images.
#include "crescent/ops/image.h"
#include "ops/image/on_images.h"

namespace crescent::ops::image {
namespace {

/// Returns the padding before and after an axis of n elements. Two of `before`, `after` and the
/// resulting size `target` are given and determine the third. `sign` is 1 if the border is added
/// and -1 if it is cut off.
std::pair<int64_t, int64_t> border_widths(const char* name, int64_t n,
                                          std::optional<int64_t> before,
                                          std::optional<int64_t> after,
                                          std::optional<int64_t> target, int sign) {
  const int given_count = before.has_value() + after.has_value() + target.has_value();
  if (given_count != 2)
    fail(name, ": expected two of what is before, what is after and the target size, got ",
         given_count);
  const int64_t border_sum = target ? sign * (*target - n) : 0;
  const std::pair<int64_t, int64_t> border_pair{before ? *before : border_sum - *after,
                                                after ? *after : border_sum - *before};
  if (border_pair.first < 0 || border_pair.second < 0)
    fail(name, ": the target size ", target.value_or(0), " does not fit a size of ", n);
  return border_pair;
}

}  // namespace

Tensor pad_images(const Tensor& x, const Edges& edges, DataFormat format) {
  return on_images("image.pad_images", x, format, [&](const Tensor& images) {
    const auto [top, bottom] = border_widths("image.pad_images", images.dim(1), edges.top,
                                             edges.bottom, edges.target_height, 1);
    const auto [left, right] = border_widths("image.pad_images", images.dim(2), edges.left,
                                             edges.right, edges.target_width, 1);
    return ops::pad(images, {0, top, left, 0}, {0, bottom, right, 0});
  });
}

Tensor crop_images(const Tensor& x, const Edges& edges, DataFormat format) {
  return on_images("image.crop_images", x, format, [&](const Tensor& images) {
    const int64_t image_height = images.dim(1), image_width = images.dim(2);
    const auto [top, bottom] = border_widths("image.crop_images", image_height, edges.top,
                                             edges.bottom, edges.target_height, -1);
    const auto [left, right] = border_widths("image.crop_images", image_width, edges.left,
                                             edges.right, edges.target_width, -1);
    if (top + bottom >= image_height || left + right >= image_width)
      fail("image.crop_images: nothing is left of shape ", x.shape());
    return ops::slice(images, {0, top, left, 0},
                      {-1, image_height - top - bottom, image_width - left - right, -1});
  });
}

}  // namespace crescent::ops::image
