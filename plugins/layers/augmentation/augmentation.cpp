// The base of layers that change images at random.
#include "augmentation.h"

namespace crescent {
namespace {

/// The dtype of computation: float32 if that of the layer is narrower.
DType working_dtype(DType compute) {
  return compute == DType::float64 ? DType::float64 : DType::float32;
}

}  // namespace

void ImageAugmentation::configured() {
  ImageLayer::configured();
  if (value_range_.size() != 2 || value_range_[0] == value_range_[1])
    fail(
        "The `value_range` argument should be a list of two numbers that differ. Received: "
        "value_range=",
        Value(value_range_));
  random_ = add_seed_generator(seed_);
}

BoundingBoxes ImageAugmentation::change_boxes(const BoundingBoxes& original,
                                              const TensorSpec& images,
                                              const RandomParameters& random_numbers) const {
  const auto move_points = [&](const Points& points) {
    return change_points(points, images, random_numbers);
  };
  return {moved_boxes(original.boxes, move_points), original.labels};
}

ImageParts ImageAugmentation::change_parts(ImageParts parts, const Call& call) {
  const Tensor images = ops::cast(parts.images, working_dtype(compute_dtype()));
  // while only shapes are inferred, the batch may be unknown, so no numbers can be drawn
  const bool is_active = call.training && images.shape().is_known();
  const RandomParameters random_numbers =
      is_active ? draw(images.spec(), *random_) : RandomParameters();
  parts.images =
      ops::cast(is_active ? change_images(images, random_numbers) : inference_images(images),
                compute_dtype());
  if (parts.labels && is_active) parts.labels = change_labels(parts.labels, random_numbers);
  if (parts.masks)
    parts.masks =
        is_active ? change_masks(parts.masks, random_numbers) : inference_masks(parts.masks);
  const Extent old_extent = extent_of(images), new_extent = extent_of(parts.images);
  if (parts.boxes && (is_active || old_extent != new_extent))
    parts.boxes = move_in_pixels(
        *parts.boxes, old_extent, new_extent, [&](const BoundingBoxes& original) -> BoundingBoxes {
          if (is_active) return change_boxes(original, images.spec(), random_numbers);
          const auto move_points = [&](const Points& p) {
            return inference_points(p, images.spec());
          };
          return {moved_boxes(original.boxes, move_points), original.labels};
        });
  return parts;
}

}  // namespace crescent
