// Bounding boxes of images: {boxes = (batch, count, 4), labels = (batch, count)}, or without the
// batch axis for a single image.
#pragma once
#include <optional>
#include <string>

#include "../called_operations.h"
#include "crescent/layer/layer.h"

namespace crescent {

/// The height and width of images in pixels.
struct Extent {
  int64_t height = 0, width = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};
/// The extent of images with channels last.
inline Extent extent_of(const TensorSpec& images) { return {images.shape[-3], images.shape[-2]}; }
inline Extent extent_of(const Tensor& images) { return extent_of(images.spec()); }

/// Points in images; x and y are (batch, count).
struct Points {
  Tensor x, y;
};

struct BoundingBoxes {
  Tensor boxes;   ///< (batch, count, 4)
  Tensor labels;  ///< (batch, count)

  /// Converts the boxes from one format to another, for images of this extent.
  BoundingBoxes in_format(const std::string& source_format, const std::string& target_format,
                          Extent image_extent) const {
    return {operation("bounding_boxes.convert_format", {{"boxes", crescent::boxed(boxes)},
                                                        {"source", source_format},
                                                        {"target", target_format},
                                                        {"height", image_extent.height},
                                                        {"width", image_extent.width}}),
            labels};
  }
  /// The boxes, in pixels, cut off at the edges of images of this extent; boxes that become empty
  /// get the label -1.
  BoundingBoxes clipped_to(Extent image_extent) const {
    const Tensors results = Codec<Tensors>::decode(
        operation_result("bounding_boxes.clip_to_image_size", {{"boxes", crescent::boxed(boxes)},
                                                               {"labels", crescent::boxed(labels)},
                                                               {"height", image_extent.height},
                                                               {"width", image_extent.width}}));
    return {results[0], results[1]};
  }
};

/// Moves the corners of boxes (xyxy) by `move`; returns the smallest boxes around the moved
/// corners.
template <class F>
Tensor moved_boxes(const Tensor& boxes, F move) {
  const auto box_edge = [&](int64_t i) {
    return ops::squeeze(ops::slice_axis(boxes, -1, i, i + 1), -1);
  };
  Tensors x, y;
  for (const int64_t x_index : {0, 2})
    for (const int64_t y_index : {1, 3}) {
      const Points moved_corner = move(Points{box_edge(x_index), box_edge(y_index)});
      x.push_back(moved_corner.x), y.push_back(moved_corner.y);
    }
  const Tensor all_x = ops::stack(x, -1), all_y = ops::stack(y, -1);
  return ops::stack(Tensors{ops::min(all_x, {-1}), ops::min(all_y, {-1}), ops::max(all_x, {-1}),
                            ops::max(all_y, {-1})},
                    -1);
}

/// Moves points by (right, down), then multiplies x by `x_scale` and y by `y_scale`.
inline Points shifted_points(const Points& p, double x_shift, double y_shift, double x_scale = 1,
                             double y_scale = 1) {
  return {(p.x + x_shift) * x_scale, (p.y + y_shift) * y_scale};
}

}  // namespace crescent
