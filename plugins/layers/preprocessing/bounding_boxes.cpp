// A layer that cuts or pads the list of bounding boxes to the same number for every image.
#include "../image_layer.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class MaxNumBoundingBoxes final : public ImageLayer {
 public:
  static void describe(Schema<MaxNumBoundingBoxes>& s) {
    s.doc("Pads or truncates bounding boxes to the same number for every image.")
        .field("max_number", &MaxNumBoundingBoxes::max_number_, "Number of boxes.")
        .required()
        .min(1)
        .field("fill_value", &MaxNumBoundingBoxes::fill_value_,
               "Value of the padding in boxes and labels.");
    describe_companions(s);
  }

 protected:
  ImageParts change_parts(ImageParts parts, const Call&) override {
    if (!parts.boxes) return parts;
    const auto with_max_number = [&](const Tensor& x) {
      const Tensor kept_part = ops::slice_axis(x, 1, 0, std::min(x.dim(1), max_number_));
      std::vector<int64_t> pad_before(x.rank(), 0), pad_after = pad_before;
      pad_after[1] = max_number_ - kept_part.dim(1);
      return ops::pad(kept_part, pad_before, pad_after, double(fill_value_));
    };
    parts.boxes = BoundingBoxes{with_max_number(ops::cast(parts.boxes->boxes, DType::float32)),
                                with_max_number(parts.boxes->labels)};
    return parts;
  }

 private:
  int64_t max_number_ = 1, fill_value_ = -1;
};

}  // namespace

CRESCENT_REGISTER(bounding_boxes) { registry.add<MaxNumBoundingBoxes>("MaxNumBoundingBoxes"); }

}  // namespace crescent
