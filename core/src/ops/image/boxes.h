// Bounding boxes: four numbers each, on the last axis, in one of nine formats.
#pragma once
#include <array>

#include "crescent/ops/arguments.h"
#include "crescent/ops/bounding_boxes.h"

namespace crescent::ops::bounding_boxes {

/// Left, top, right and bottom, in pixels or relative to the image size: (..., 1) each.
using Edges = std::array<Tensor, 4>;

constexpr const char* kEdges = "xyxy";  ///< the format that corresponds to Edges

/// The numbers [first, first + count) of each box.
inline Tensor part(const Tensor& boxes, int64_t first, int64_t count = 1) {
  return slice_axis(boxes, -1, first, first + count);
}
inline Edges edges_of(const Tensor& boxes) {
  return {part(boxes, 0), part(boxes, 1), part(boxes, 2), part(boxes, 3)};
}
/// Fails unless the last axis has four numbers.
void check(const char* function, const Tensor& boxes);
bool is_relative(const std::string& format);
/// Converts boxes to another format as float32; relative formats need the image shape (height,
/// width, channels).
Tensor converted(const Tensor& boxes, const std::string& source, const std::string& target,
                 const std::vector<int64_t>& image_shape);

}  // namespace crescent::ops::bounding_boxes
