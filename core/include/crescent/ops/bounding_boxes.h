// Bounding boxes (..., 4), as keras.utils.bounding_boxes has them. Their formats are xyxy, yxyx,
// xywh, center_xywh and center_yxhw in pixels, rel_xyxy, rel_yxyx, rel_xywh and rel_center_xywh in
// shares of the image. Results are floating; what fails says so by the name of the function.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops::bounding_boxes {

/// In another format; between shares and pixels the height and width of the image must be given.
CRESCENT_API Tensor convert_format(const Tensor& boxes, const std::string& source,
                                   const std::string& target, const Operand& height = 0,
                                   const Operand& width = 0, DType dtype = DType::float32);

// -- boxes that move with their image, of "xyxy" (clip_to_image_size: or "rel_xyxy")
/// Cut at the edges of the image, and the labels (...), -1 where nothing is left; without labels
/// the boxes twice.
CRESCENT_API std::tuple<Tensor, Tensor> clip_to_image_size(const Tensor& boxes,
                                                           const Tensor& labels = {},
                                                           const Operand& height = 0,
                                                           const Operand& width = 0,
                                                           const std::string& format = "xyxy");
CRESCENT_API Tensor crop(const Tensor& boxes, const Operand& top, const Operand& left,
                         const Operand& height, const Operand& width,
                         const std::string& format = "xyxy");
/// Whatever is below and to the right of the image.
CRESCENT_API Tensor pad(const Tensor& boxes, const Operand& top, const Operand& left,
                        const std::string& format = "xyxy");

/// Numbers or tensors (batch): degrees, shares of the image, a factor.
struct AffineNumbers {
  Operand angle = 0, translate_x = 0, translate_y = 0, scale = 1, shear_x = 0, shear_y = 0;
  Operand center_x = 0, center_y = 0;  ///< 0: the middle
};
/// Boxes (n, 4) or (batch, n, 4) -> the smallest ones around them turned, slanted, stretched and
/// moved.
CRESCENT_API Tensor affine_transform(const Tensor& boxes, const AffineNumbers& numbers,
                                     const Operand& height, const Operand& width,
                                     const std::string& format = "xyxy");

// -- boxes against others. Shares need an image shape (height, width, channels).
/// What a detector learns: how boxes differ from anchors, in "center_yxhw" or "center_xywh", over a
/// variance (4) for each number.
struct DeltaOptions {
  std::string encoding = "center_yxhw";
  Tensor variance = {};
  std::vector<int64_t> image_shape = {};
};
CRESCENT_API Tensor encode_box_to_deltas(const Tensor& anchors, const Tensor& boxes,
                                         const std::string& anchor_format,
                                         const std::string& box_format,
                                         const DeltaOptions& options = {});
/// The other way round.
CRESCENT_API Tensor decode_deltas_to_boxes(const Tensor& anchors, const Tensor& deltas,
                                           const std::string& anchor_format,
                                           const std::string& box_format,
                                           const DeltaOptions& options = {});
/// (..., n, 4), (..., m, 4) -> (..., n, m): the common area as a share of that of both. Where boxes
/// have a number below 0, the mask value is there, if there is one.
CRESCENT_API Tensor compute_iou(const Tensor& boxes1, const Tensor& boxes2,
                                const std::string& format, std::optional<double> mask_val = {},
                                const std::vector<int64_t>& image_shape = {});
/// Complete IoU (Zheng et al., 2020) of boxes that belong together: (..., 4) twice -> (...).
CRESCENT_API Tensor compute_ciou(const Tensor& boxes1, const Tensor& boxes2,
                                 const std::string& format,
                                 const std::vector<int64_t>& image_shape = {});

}  // namespace crescent::ops::bounding_boxes
