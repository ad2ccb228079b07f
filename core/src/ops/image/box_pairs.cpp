// Bounding boxes in relation to others: deltas from anchors, intersection over union.
#include <numbers>

#include "ops/image/boxes.h"

namespace crescent::ops::bounding_boxes {
namespace {

constexpr double kEpsilon = 1e-7;

void check_encoding(const char* option, const std::string& format) {
  if (format != "center_xywh" && format != "center_yxhw")
    fail("`", option, "` should be one of 'center_xywh' or 'center_yxhw', got ", format);
}

Tensor variance_of(const Tensor& variance) {
  if (variance.rank() != 1 || variance.dim(0) != 4)
    fail("`variance` must be length 4, got shape ", variance.shape());
  return cast(variance, DType::float32);
}

void check_list(const char* name, const Tensor& boxes1, const Tensor& boxes2) {
  for (const Tensor* boxes : {&boxes1, &boxes2})
    if (boxes->rank() != 2 && boxes->rank() != 3)
      fail(name, "() expects boxes1 and boxes2 to be batched, or to be unbatched. Received ",
           "len(boxes1.shape)=", boxes1.rank(), ", len(boxes2.shape)=", boxes2.rank(),
           ". Expected 2 or 3 of each.");
}

void check_relative(const std::string& format, const std::vector<int64_t>& image_shape) {
  if (is_relative(format) && image_shape.empty())
    fail(
        "When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument "
        "must be provided.");
}

Tensor area_of(const Edges& e) { return (e[2] - e[0]) * (e[3] - e[1]); }

}  // namespace

Tensor encode_box_to_deltas(const Tensor& anchors, const Tensor& boxes,
                            const std::string& anchor_format, const std::string& box_format,
                            const DeltaOptions& options) {
  check_encoding("encoding_format", options.encoding);
  const Tensor a = converted(anchors, anchor_format, options.encoding, options.image_shape),
               b = converted(boxes, box_format, options.encoding, options.image_shape);
  const Tensor size = maximum(part(a, 2, 2), kEpsilon);
  const Tensor center_offset = (part(b, 0, 2) - part(a, 0, 2)) / size,
               stretch = log(maximum(part(b, 2, 2), kEpsilon) / size);
  const Tensor deltas = concatenate(Tensors{center_offset, stretch}, -1);
  return options.variance ? deltas / variance_of(options.variance) : deltas;
}

Tensor decode_deltas_to_boxes(const Tensor& anchors, const Tensor& deltas,
                              const std::string& anchor_format, const std::string& box_format,
                              const DeltaOptions& options) {
  check_encoding("encoded_format", options.encoding);
  check("decode_deltas_to_boxes", deltas);
  const Tensor a = converted(anchors, anchor_format, options.encoding, options.image_shape);
  const Tensor d =
      options.variance ? floating(deltas) * variance_of(options.variance) : floating(deltas);
  const Tensor size = part(a, 2, 2);
  const Tensor center = part(d, 0, 2) * size + part(a, 0, 2), sizes = exp(part(d, 2, 2)) * size;
  return converted(concatenate(Tensors{center, sizes}, -1), options.encoding, box_format,
                   options.image_shape);
}

Tensor compute_iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
                   std::optional<double> mask_val, const std::vector<int64_t>& image_shape) {
  check_list("compute_iou", boxes1, boxes2);
  check_relative(format, image_shape);
  const Tensor first_edges = converted(boxes1, format, kEdges, image_shape),
               second_edges = converted(boxes2, format, kEdges, image_shape);
  const auto across = [](const Tensor& column) { return swap_axes(column, -1, -2); };
  const Edges a = edges_of(first_edges);
  Edges b = edges_of(second_edges);
  for (Tensor& edge : b) edge = across(edge);
  const auto overlap = [&](size_t low) {
    return maximum(minimum(a[low + 2], b[low + 2]) - maximum(a[low], b[low]), 0.0);
  };
  const Tensor intersection = overlap(0) * overlap(1);
  const Tensor iou = intersection / (area_of(a) + area_of(b) - intersection + kEpsilon);
  if (!mask_val) return iou;
  const auto is_padding = [](const Tensor& boxes) { return less(max(boxes, {-1}, true), 0.0); };
  return where(logical_or(is_padding(first_edges), across(is_padding(second_edges))), *mask_val,
               iou);
}

Tensor compute_ciou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
                    const std::vector<int64_t>& image_shape) {
  check_relative(format, image_shape);
  const Edges a = edges_of(converted(boxes1, format, kEdges, image_shape)),
              b = edges_of(converted(boxes2, format, kEdges, image_shape));
  const auto width_of = [](const Edges& e) { return e[2] - e[0]; };
  const auto height_of = [](const Edges& e) { return e[3] - e[1] + kEpsilon; };
  const auto overlap = [&](size_t low) {
    return maximum(minimum(a[low + 2], b[low + 2]) - maximum(a[low], b[low]), 0.0);
  };
  const auto enclosing_length = [&](size_t low) {
    return square(maximum(a[low + 2], b[low + 2]) - minimum(a[low], b[low]));
  };
  const auto between_centers = [&](size_t low) {
    return square((a[low] + a[low + 2]) / 2.0 - (b[low] + b[low + 2]) / 2.0);
  };
  const Tensor intersection = overlap(0) * overlap(1);
  const Tensor union_area =
      width_of(a) * height_of(a) + width_of(b) * height_of(b) - intersection + kEpsilon;
  const Tensor iou = intersection / (union_area + kEpsilon);
  const Tensor relative_distance = (between_centers(0) + between_centers(1)) /
                                   (enclosing_length(0) + enclosing_length(1) + kEpsilon);
  const Tensor aspect_difference =
      arctan(width_of(b) / height_of(b)) - arctan(width_of(a) / height_of(a));
  const Tensor v = square(aspect_difference) * (4 / (std::numbers::pi * std::numbers::pi));
  const Tensor alpha = v / (v - iou + (1 + kEpsilon));
  return squeeze(iou - (relative_distance + v * alpha), -1);
}

}  // namespace crescent::ops::bounding_boxes
