// Bounding boxes: four numbers on the last axis, in one of nine formats.
#pragma once
#include <array>

#include "crescent/ops/arguments.h"
#include "crescent/ops/bounding_boxes.h"

namespace crescent::ops::bounding_boxes {

/// The left, top, right and bottom edges of boxes in pixels or as fractions of the image size,
/// (..., 1) each.
using Edges = std::array<Tensor, 4>;

constexpr const char* kEdges = "xyxy";  ///< the name of the format with the same numbers as Edges

/// Returns `count` of the four numbers of each box, beginning with number `first`.
inline Tensor part(const Tensor& boxes, int64_t first, int64_t count = 1) {
  return slice_axis(boxes, -1, first, first + count);
}
inline Edges edges_of(const Tensor& boxes) {
  return {part(boxes, 0), part(boxes, 1), part(boxes, 2), part(boxes, 3)};
}
/// Fails unless the last axis has size 4.
void check(const char* function, const Tensor& boxes);
bool is_relative(const std::string& format);
/// Converts boxes to another format, in float32; relative formats refer to an image of this shape
/// (height, width, channels).
Tensor converted(const Tensor& boxes, const std::string& source, const std::string& target,
                 const std::vector<int64_t>& image_shape);

}  // namespace crescent::ops::bounding_boxes
