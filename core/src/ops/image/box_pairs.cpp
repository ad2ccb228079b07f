// Functions of pairs of bounding boxes: deltas between boxes and anchors, intersection over union.
#include <numbers>

#include "ops/image/boxes.h"

namespace crescent::ops::bounding_boxes {
namespace {

constexpr double kEpsilon = 1e-7;

void check_encoding(const char* option, const std::string& format) {
  if (format != "center_xywh" && format != "center_yxhw")
    fail("`", option, "` should be one of 'center_xywh' or 'center_yxhw', got ", format);
}

Tensor checked_variance(const Tensor& variance) {
  if (variance.rank() != 1 || variance.dim(0) != 4)
    fail("`variance` must be length 4, got shape ", variance.shape());
  return cast(variance, DType::float32);
}

void check_box_ranks(const char* name, const Tensor& boxes1, const Tensor& boxes2) {
  for (const Tensor* boxes : {&boxes1, &boxes2})
    if (boxes->rank() != 2 && boxes->rank() != 3)
      fail(name, "() expects boxes1 and boxes2 to be batched, or to be unbatched. Received ",
           "len(boxes1.shape)=", boxes1.rank(), ", len(boxes2.shape)=", boxes2.rank(),
           ". Expected 2 or 3 of each.");
}

void check_image_shape(const std::string& format, const std::vector<int64_t>& image_shape) {
  if (is_relative(format) && image_shape.empty())
    fail(
        "When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument "
        "must be provided.");
}

Tensor area_of(const Edges& edges) { return (edges[2] - edges[0]) * (edges[3] - edges[1]); }

}  // namespace

Tensor encode_box_to_deltas(const Tensor& anchors, const Tensor& boxes,
                            const std::string& anchor_format, const std::string& box_format,
                            const DeltaOptions& options) {
  check_encoding("encoding_format", options.encoding);
  const Tensor anchor_boxes =
                   converted_boxes(anchors, anchor_format, options.encoding, options.image_shape),
               target_boxes =
                   converted_boxes(boxes, box_format, options.encoding, options.image_shape);
  const Tensor anchor_size = maximum(numbers_of_boxes(anchor_boxes, 2, 2), kEpsilon);
  const Tensor center_offset =
                   (numbers_of_boxes(target_boxes, 0, 2) - numbers_of_boxes(anchor_boxes, 0, 2)) /
                   anchor_size,
               log_size_ratio =
                   log(maximum(numbers_of_boxes(target_boxes, 2, 2), kEpsilon) / anchor_size);
  const Tensor deltas = concatenate(Tensors{center_offset, log_size_ratio}, -1);
  return options.variance ? deltas / checked_variance(options.variance) : deltas;
}

Tensor decode_deltas_to_boxes(const Tensor& anchors, const Tensor& deltas,
                              const std::string& anchor_format, const std::string& box_format,
                              const DeltaOptions& options) {
  check_encoding("encoded_format", options.encoding);
  expect_boxes("decode_deltas_to_boxes", deltas);
  const Tensor anchor_boxes =
      converted_boxes(anchors, anchor_format, options.encoding, options.image_shape);
  const Tensor scaled_deltas =
      options.variance ? floating(deltas) * checked_variance(options.variance) : floating(deltas);
  const Tensor anchor_size = numbers_of_boxes(anchor_boxes, 2, 2);
  const Tensor box_center = numbers_of_boxes(scaled_deltas, 0, 2) * anchor_size +
                            numbers_of_boxes(anchor_boxes, 0, 2),
               box_size = exp(numbers_of_boxes(scaled_deltas, 2, 2)) * anchor_size;
  return converted_boxes(concatenate(Tensors{box_center, box_size}, -1), options.encoding,
                         box_format, options.image_shape);
}

Tensor compute_iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
                   std::optional<double> mask_val, const std::vector<int64_t>& image_shape) {
  check_box_ranks("compute_iou", boxes1, boxes2);
  check_image_shape(format, image_shape);
  const Tensor first_edges = converted_boxes(boxes1, format, kEdgeFormat, image_shape),
               second_edges = converted_boxes(boxes2, format, kEdgeFormat, image_shape);
  const auto with_last_axes_swapped = [](const Tensor& column) {
    return swap_axes(column, -1, -2);
  };
  const Edges a = edges_of(first_edges);
  Edges b = edges_of(second_edges);
  for (Tensor& edge : b) edge = with_last_axes_swapped(edge);
  const auto overlap = [&](size_t low_edge) {
    return maximum(minimum(a[low_edge + 2], b[low_edge + 2]) - maximum(a[low_edge], b[low_edge]),
                   0.0);
  };
  const Tensor intersection = overlap(0) * overlap(1);
  const Tensor iou = intersection / (area_of(a) + area_of(b) - intersection + kEpsilon);
  if (!mask_val) return iou;
  const auto is_padding = [](const Tensor& boxes) { return less(max(boxes, {-1}, true), 0.0); };
  return where(
      logical_or(is_padding(first_edges), with_last_axes_swapped(is_padding(second_edges))),
      *mask_val, iou);
}

Tensor compute_ciou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
                    const std::vector<int64_t>& image_shape) {
  check_image_shape(format, image_shape);
  const Edges a = edges_of(converted_boxes(boxes1, format, kEdgeFormat, image_shape)),
              b = edges_of(converted_boxes(boxes2, format, kEdgeFormat, image_shape));
  const auto width_of = [](const Edges& edges) { return edges[2] - edges[0]; };
  const auto height_of = [](const Edges& edges) { return edges[3] - edges[1] + kEpsilon; };
  const auto overlap = [&](size_t low_edge) {
    return maximum(minimum(a[low_edge + 2], b[low_edge + 2]) - maximum(a[low_edge], b[low_edge]),
                   0.0);
  };
  const auto squared_enclosing_length = [&](size_t low_edge) {
    return square(maximum(a[low_edge + 2], b[low_edge + 2]) - minimum(a[low_edge], b[low_edge]));
  };
  const auto squared_center_distance = [&](size_t low_edge) {
    return square((a[low_edge] + a[low_edge + 2]) / 2.0 - (b[low_edge] + b[low_edge + 2]) / 2.0);
  };
  const Tensor intersection = overlap(0) * overlap(1);
  const Tensor union_area =
      width_of(a) * height_of(a) + width_of(b) * height_of(b) - intersection + kEpsilon;
  const Tensor iou = intersection / (union_area + kEpsilon);
  const Tensor relative_distance =
      (squared_center_distance(0) + squared_center_distance(1)) /
      (squared_enclosing_length(0) + squared_enclosing_length(1) + kEpsilon);
  const Tensor aspect_difference =
      arctan(width_of(b) / height_of(b)) - arctan(width_of(a) / height_of(a));
  const Tensor aspect_penalty =
      square(aspect_difference) * (4 / (std::numbers::pi * std::numbers::pi));
  const Tensor penalty_weight = aspect_penalty / (aspect_penalty - iou + (1 + kEpsilon));
  return squeeze(iou - (relative_distance + aspect_penalty * penalty_weight), -1);
}

}  // namespace crescent::ops::bounding_boxes
