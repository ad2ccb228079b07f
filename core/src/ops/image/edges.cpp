// Padding and cropping of images.
#include "crescent/ops/image.h"
#include "ops/image/on_images.h"

namespace crescent::ops::image {
namespace {

/// Returns the padding before and after an axis of n elements. Two of `before`, `after` and the
/// resulting size `target` are given and determine the third.
std::pair<int64_t, int64_t> borders(const char* name, int64_t n, std::optional<int64_t> before,
                                    std::optional<int64_t> after, std::optional<int64_t> target,
                                    int sign) {
  const int given_count = before.has_value() + after.has_value() + target.has_value();
  if (given_count != 2)
    fail(name, ": expected two of what is before, what is after and the target size, got ",
         given_count);
  const int64_t total_border = target ? sign * (*target - n) : 0;
  const std::pair<int64_t, int64_t> border_pair{before ? *before : total_border - *after,
                                                after ? *after : total_border - *before};
  if (border_pair.first < 0 || border_pair.second < 0)
    fail(name, ": the target size ", target.value_or(0), " does not fit a size of ", n);
  return border_pair;
}

}  // namespace

Tensor pad_images(const Tensor& x, const Edges& e, DataFormat format) {
  return on_images("image.pad_images", x, format, [&](const Tensor& images) {
    const auto [above, below] =
        borders("image.pad_images", images.dim(1), e.top, e.bottom, e.target_height, 1);
    const auto [before, after] =
        borders("image.pad_images", images.dim(2), e.left, e.right, e.target_width, 1);
    return ops::pad(images, {0, above, before, 0}, {0, below, after, 0});
  });
}

Tensor crop_images(const Tensor& x, const Edges& e, DataFormat format) {
  return on_images("image.crop_images", x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2);
    const auto [above, below] =
        borders("image.crop_images", h, e.top, e.bottom, e.target_height, -1);
    const auto [before, after] =
        borders("image.crop_images", w, e.left, e.right, e.target_width, -1);
    if (above + below >= h || before + after >= w)
      fail("image.crop_images: nothing is left of shape ", x.shape());
    return ops::slice(images, {0, above, before, 0},
                      {-1, h - above - below, w - before - after, -1});
  });
}

}  // namespace crescent::ops::image
