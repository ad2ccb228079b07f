// Bounding boxes, four numbers each on the last axis: the functions of keras.utils.bounding_boxes.
#include "crescent/ops/bounding_boxes.h"

#include "../shared/shared.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

namespace bounding_boxes = ops::bounding_boxes;
using Sizes = std::vector<int64_t>;

Tensor convert_format(const Tensor& boxes, const std::string& source, const std::string& target,
                      const Operand& height, const Operand& width, const std::string& dtype) {
  return bounding_boxes::convert_format(boxes, source, target, height, width, dtype_named(dtype));
}

/// Shifts boxes by the position of the image in the padded image, (top, left); the other parameters
/// are not needed.
Tensor shift_to_unpadded(const Tensor& boxes, const Operand& top, const Operand& left,
                         const Operand& /*height*/, const Operand& /*width*/,
                         const std::string& format) {
  return bounding_boxes::pad(boxes, top, left, format);
}

Tensor transform_boxes(const Tensor& boxes, const Operand& angle, const Operand& translate_x,
                       const Operand& translate_y, const Operand& scale, const Operand& shear_x,
                       const Operand& shear_y, const Operand& height, const Operand& width,
                       const Operand& center_x, const Operand& center_y,
                       const std::string& format) {
  return bounding_boxes::affine_transform(
      boxes, {angle, translate_x, translate_y, scale, shear_x, shear_y, center_x, center_y}, height,
      width, format);
}

using Deltas = Tensor (*)(const Tensor&, const Tensor&, const std::string&, const std::string&,
                          const bounding_boxes::DeltaOptions&);

template <Deltas F>
Tensor convert_deltas(const Tensor& anchors, const Tensor& x, const std::string& anchor_format,
                      const std::string& box_format, const std::string& encoding,
                      const Tensor& variance, const Sizes& image_shape) {
  return F(anchors, x, anchor_format, box_format, {encoding, variance, image_shape});
}

Tensor compute_iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format,
                   bool use_masking, double mask_val, const Sizes& image_shape) {
  const std::optional<double> mask = use_masking ? std::optional(mask_val) : std::nullopt;
  return bounding_boxes::compute_iou(boxes1, boxes2, format, mask, image_shape);
}

}  // namespace

CRESCENT_REGISTER(boxes) {
  Operations(registry, "crescent.operations")
      .add("ConvertBoxFormat",
           "bounding_boxes.convert_format(boxes, source, target, height=None, width=None, "
           "dtype='float32')",
           &convert_format,
           "Boxes in another format: xyxy, yxyx, xywh, center_xywh, center_yxhw, or one of these "
           "with the prefix rel_, relative to the size of the image.")
      .add("ClipBoxes",
           "bounding_boxes.clip_to_image_size(boxes, labels=None, height=None, width=None, "
           "bounding_box_format='xyxy')",
           &bounding_boxes::clip_to_image_size,
           "Boxes clipped to the image; the label of a box that lies outside becomes -1.")
      .add("AffineTransformBoxes",
           "bounding_boxes.affine_transform(boxes, angle, translate_x, translate_y, scale, "
           "shear_x, shear_y, height, width, center_x=None, center_y=None, "
           "bounding_box_format='xyxy')",
           &transform_boxes,
           "The bounding boxes after an affine transform of the images; angle and shear in "
           "degrees, translation as a fraction of the size.")
      .add("CropBoxes",
           "bounding_boxes.crop(boxes, top, left, height, width, bounding_box_format='xyxy')",
           &bounding_boxes::crop, "Boxes relative to a crop of the image.")
      .add("PadBoxes",
           "bounding_boxes.pad(boxes, top, left, height=None, width=None, "
           "bounding_box_format='xyxy')",
           &shift_to_unpadded, "Boxes relative to an image that was padded.")
      .add("EncodeBoxes",
           "bounding_boxes.encode_box_to_deltas(anchors, boxes, anchor_format, box_format, "
           "encoding_format='center_yxhw', variance=None, image_shape=None)",
           &convert_deltas<bounding_boxes::encode_box_to_deltas>,
           "The offsets of boxes from anchors, which a detector learns.")
      .add("DecodeBoxes",
           "bounding_boxes.decode_deltas_to_boxes(anchors, boxes_delta, anchor_format, "
           "box_format, encoded_format='center_yxhw', variance=None, image_shape=None)",
           &convert_deltas<bounding_boxes::decode_deltas_to_boxes>,
           "The boxes that lie at these offsets from anchors.")
      .add("BoxIoU",
           "bounding_boxes.compute_iou(boxes1, boxes2, bounding_box_format, use_masking=False, "
           "mask_val=-1, image_shape=None)",
           &compute_iou, "The intersection over union of every pair of boxes.")
      .add("BoxCIoU",
           "bounding_boxes.compute_ciou(boxes1, boxes2, bounding_box_format, image_shape=None)",
           &bounding_boxes::compute_ciou, "The complete IoU of corresponding boxes.");
}

}  // namespace crescent::operations
