// Bounding boxes: four numbers on the last axis, in one of nine formats.
#pragma once
#include <array>

#include "crescent/ops/arguments.h"
#include "crescent/ops/bounding_boxes.h"

namespace crescent::ops::bounding_boxes {

/// The left, top, right and bottom edges of boxes, in pixels or as fractions of the image size.
/// Each of the four tensors has the shape (..., 1).
using Edges = std::array<Tensor, 4>;

constexpr const char* kEdgeFormat =
    "xyxy";  ///< the name of the format with the same numbers as Edges

/// Returns `count` of the four numbers of each box, from the one with the index `first_number` on.
inline Tensor numbers_of_boxes(const Tensor& boxes, int64_t first_number, int64_t count = 1) {
  return slice_axis(boxes, -1, first_number, first_number + count);
}
inline Edges edges_of(const Tensor& boxes) {
  return {numbers_of_boxes(boxes, 0), numbers_of_boxes(boxes, 1), numbers_of_boxes(boxes, 2),
          numbers_of_boxes(boxes, 3)};
}
/// Fails unless the last axis has size 4.
void expect_boxes(const char* function, const Tensor& boxes);
bool is_relative(const std::string& format);
/// Converts boxes to another format, in float32; relative formats refer to an image of this shape
/// (height, width, channels).
Tensor converted_boxes(const Tensor& boxes, const std::string& source, const std::string& target,
                       const std::vector<int64_t>& image_shape);

}  // namespace crescent::ops::bounding_boxes
