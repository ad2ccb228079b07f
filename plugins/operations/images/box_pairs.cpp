// Bounding boxes against others: as differences from anchors, and how much they have in common.
#include <numbers>

#include "boxes.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

using boxes::converted;
using boxes::Edges;
using boxes::part;

constexpr double kEpsilon = 1e-7;

void check_encoding(const char* option, const std::string& format) {
  if (format != "center_xywh" && format != "center_yxhw")
    fail("`", option, "` should be one of 'center_xywh' or 'center_yxhw', got ", format);
}

Tensor variance_of(const Tensor& variance) {
  if (variance.rank() != 1 || variance.dim(0) != 4)
    fail("`variance` must be length 4, got shape ", variance.shape());
  return ops::cast(variance, DType::float32);
}

Tensor encode(const Tensor& anchors, const Tensor& boxes, const std::string& anchor_format,
              const std::string& box_format, const std::string& encoding_format,
              const Tensor& variance, const std::vector<int64_t>& image_shape) {
  check_encoding("encoding_format", encoding_format);
  const Tensor a = converted(anchors, anchor_format, encoding_format, image_shape),
               b = converted(boxes, box_format, encoding_format, image_shape);
  const Tensor size = ops::maximum(part(a, 2, 2), kEpsilon);
  const Tensor middle = (part(b, 0, 2) - part(a, 0, 2)) / size,
               stretch = ops::log(ops::maximum(part(b, 2, 2), kEpsilon) / size);
  const Tensor deltas = ops::concatenate(Tensors{middle, stretch}, -1);
  return variance ? deltas / variance_of(variance) : deltas;
}

Tensor decode(const Tensor& anchors, const Tensor& deltas, const std::string& anchor_format,
              const std::string& box_format, const std::string& encoded_format,
              const Tensor& variance, const std::vector<int64_t>& image_shape) {
  check_encoding("encoded_format", encoded_format);
  boxes::check("decode_deltas_to_boxes", deltas);
  const Tensor a = converted(anchors, anchor_format, encoded_format, image_shape);
  const Tensor d = variance ? floating(deltas) * variance_of(variance) : floating(deltas);
  const Tensor size = part(a, 2, 2);
  const Tensor middle = part(d, 0, 2) * size + part(a, 0, 2),
               stretched = ops::exp(part(d, 2, 2)) * size;
  return converted(ops::concatenate(Tensors{middle, stretched}, -1), encoded_format, box_format,
                   image_shape);
}

void check_list(const char* name, const Tensor& boxes1, const Tensor& boxes2) {
  for (const Tensor* boxes : {&boxes1, &boxes2})
    if (boxes->rank() != 2 && boxes->rank() != 3)
      fail(name, "() expects boxes1 and boxes2 to be batched, or to be unbatched. Received ",
           "len(boxes1.shape)=", boxes1.rank(), ", len(boxes2.shape)=", boxes2.rank(),
           ". Expected 2 or 3 of each.");
}

void check_relative(const std::string& format, const std::vector<int64_t>& image_shape) {
  if (boxes::is_relative(format) && image_shape.empty())
    fail(
        "When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument "
        "must be provided.");
}

Tensor area_of(const Edges& e) { return (e[2] - e[0]) * (e[3] - e[1]); }

/// How much of each two boxes is common to both: (..., boxes1, boxes2).
Tensor iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format, bool use_masking,
           double mask_val, const std::vector<int64_t>& image_shape) {
  check_list("compute_iou", boxes1, boxes2);
  check_relative(format, image_shape);
  const Tensor first = converted(boxes1, format, boxes::kEdges, image_shape),
               second = converted(boxes2, format, boxes::kEdges, image_shape);
  const auto across = [](const Tensor& column) { return ops::swap_axes(column, -1, -2); };
  const Edges a = boxes::edges_of(first);
  Edges b = boxes::edges_of(second);
  for (Tensor& edge : b) edge = across(edge);
  const auto common = [&](size_t low) {
    return ops::maximum(ops::minimum(a[low + 2], b[low + 2]) - ops::maximum(a[low], b[low]), 0.0);
  };
  const Tensor both = common(0) * common(1);
  const Tensor share = both / (area_of(a) + area_of(b) - both + kEpsilon);
  if (!use_masking) return share;
  const auto beyond = [](const Tensor& boxes) {
    return ops::less(ops::max(boxes, {-1}, true), 0.0);
  };
  return ops::where(ops::logical_or(beyond(first), across(beyond(second))), mask_val, share);
}

/// Complete IoU (Zheng et al., 2020) of boxes that belong together: (...).
Tensor ciou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
            const std::vector<int64_t>& image_shape) {
  check_relative(format, image_shape);
  const Edges a = boxes::edges_of(converted(boxes1, format, boxes::kEdges, image_shape)),
              b = boxes::edges_of(converted(boxes2, format, boxes::kEdges, image_shape));
  const auto wide = [](const Edges& e) { return e[2] - e[0]; };
  const auto high = [](const Edges& e) { return e[3] - e[1] + kEpsilon; };
  const auto common = [&](size_t low) {
    return ops::maximum(ops::minimum(a[low + 2], b[low + 2]) - ops::maximum(a[low], b[low]), 0.0);
  };
  const auto around = [&](size_t low) {
    return ops::square(ops::maximum(a[low + 2], b[low + 2]) - ops::minimum(a[low], b[low]));
  };
  const auto between_centers = [&](size_t low) {
    return ops::square((a[low] + a[low + 2]) / 2.0 - (b[low] + b[low + 2]) / 2.0);
  };
  const Tensor both = common(0) * common(1);
  const Tensor all = wide(a) * high(a) + wide(b) * high(b) - both + kEpsilon;
  const Tensor share = both / (all + kEpsilon);
  const Tensor far = (between_centers(0) + between_centers(1)) / (around(0) + around(1) + kEpsilon);
  const Tensor slopes = ops::arctan(wide(b) / high(b)) - ops::arctan(wide(a) / high(a));
  const Tensor v = ops::square(slopes) * (4 / (std::numbers::pi * std::numbers::pi));
  const Tensor alpha = v / (v - share + (1 + kEpsilon));
  return ops::squeeze(share - (far + v * alpha), -1);
}

}  // namespace

CRESCENT_REGISTER(box_pairs) {
  Operations(registry, "crescent.operations")
      .add("EncodeBoxes",
           "bounding_boxes.encode_box_to_deltas(anchors, boxes, anchor_format, box_format, "
           "encoding_format='center_yxhw', variance=None, image_shape=None)",
           &encode, "How boxes differ from anchors: what a detector learns.")
      .add("DecodeBoxes",
           "bounding_boxes.decode_deltas_to_boxes(anchors, boxes_delta, anchor_format, "
           "box_format, encoded_format='center_yxhw', variance=None, image_shape=None)",
           &decode, "The boxes that differ so from anchors.")
      .add("BoxIoU",
           "bounding_boxes.compute_iou(boxes1, boxes2, bounding_box_format, use_masking=False, "
           "mask_val=-1, image_shape=None)",
           &iou, "Of each two boxes the common area as a share of the area of both.")
      .add("BoxCIoU",
           "bounding_boxes.compute_ciou(boxes1, boxes2, bounding_box_format, image_shape=None)",
           &ciou, "Complete IoU of boxes that belong together.");
}

}  // namespace crescent::operations
