// Bounding boxes (..., 4), as in keras.utils.bounding_boxes. Their formats are xyxy, yxyx, xywh,
// center_xywh and center_yxhw in pixels, and rel_xyxy, rel_yxyx, rel_xywh and rel_center_xywh
// relative to the image size. Results are floating. Error messages begin with the name of the
// function.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops::bounding_boxes {

/// Converts boxes to another format; the height and width of the image are needed to convert
/// between pixels and relative coordinates.
CRESCENT_API Tensor convert_format(const Tensor& boxes, const std::string& source,
                                   const std::string& target, const Operand& height = 0,
                                   const Operand& width = 0, DType dtype = DType::float32);

// -- boxes that are transformed along with their image, in format "xyxy" (clip_to_image_size also
// takes "rel_xyxy")
/// Returns boxes clipped to the image, and the labels (...), which become -1 for boxes outside of
/// it; without labels, returns the boxes twice.
CRESCENT_API std::tuple<Tensor, Tensor> clip_to_image_size(const Tensor& boxes,
                                                           const Tensor& labels = {},
                                                           const Operand& height = 0,
                                                           const Operand& width = 0,
                                                           const std::string& format = "xyxy");
/// Returns the boxes of an image from which the region at row `top` and column `left` with this
/// height and width was cut out; boxes are clipped to the region.
CRESCENT_API Tensor crop(const Tensor& boxes, const Operand& top, const Operand& left,
                         const Operand& height, const Operand& width,
                         const std::string& format = "xyxy");
/// Returns the boxes of an image that was padded by `top` rows and `left` columns. Padding below
/// and to the right of the image does not change boxes.
CRESCENT_API Tensor pad(const Tensor& boxes, const Operand& top, const Operand& left,
                        const std::string& format = "xyxy");

/// The parameters of an affine transform, each a number or a tensor (batch). The angle and the
/// shears are in degrees, translations are relative to the image size, and the scale is a factor.
struct AffineNumbers {
  Operand angle = 0, translate_x = 0, translate_y = 0, scale = 1, shear_x = 0, shear_y = 0;
  Operand center_x = 0, center_y = 0;  ///< fractions of the image size; 0: the centre
};
/// Boxes (n, 4) or (batch, n, 4) -> the bounding boxes of the boxes after rotation, shear, scaling
/// and translation.
CRESCENT_API Tensor affine_transform(const Tensor& boxes, const AffineNumbers& numbers,
                                     const Operand& height, const Operand& width,
                                     const std::string& format = "xyxy");

// -- boxes compared with others. Relative formats need an image shape (height, width, channels).
/// Options for deltas, the regression targets of a detector: the differences between boxes and
/// anchors, in the encoding "center_yxhw" or "center_xywh", divided by `variance` (4), a number per
/// coordinate.
struct DeltaOptions {
  std::string encoding = "center_yxhw";
  Tensor variance = {};
  std::vector<int64_t> image_shape = {};
};
/// Returns the deltas from the anchors to the boxes, in the encoding of the options.
CRESCENT_API Tensor encode_box_to_deltas(const Tensor& anchors, const Tensor& boxes,
                                         const std::string& anchor_format,
                                         const std::string& box_format,
                                         const DeltaOptions& options = {});
/// The inverse of encode_box_to_deltas().
CRESCENT_API Tensor decode_deltas_to_boxes(const Tensor& anchors, const Tensor& deltas,
                                           const std::string& anchor_format,
                                           const std::string& box_format,
                                           const DeltaOptions& options = {});
/// Intersection over union: (..., n, 4), (..., m, 4) -> (..., n, m). If mask_val is given, pairs in
/// which a box has a negative coordinate get this value.
CRESCENT_API Tensor compute_iou(const Tensor& boxes1, const Tensor& boxes2,
                                const std::string& format, std::optional<double> mask_val = {},
                                const std::vector<int64_t>& image_shape = {});
/// Complete IoU (Zheng et al., 2020) of corresponding boxes: (..., 4), (..., 4) -> (...).
CRESCENT_API Tensor compute_ciou(const Tensor& boxes1, const Tensor& boxes2,
                                 const std::string& format,
                                 const std::vector<int64_t>& image_shape = {});

}  // namespace crescent::ops::bounding_boxes
