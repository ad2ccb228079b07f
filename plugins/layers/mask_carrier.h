// Layers that compute the mask of their output from that of their input. A mask lacks the axes of
// features. In Keras these layers drop the mask, so models of Keras are read with carry_mask =
// false.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class MaskCarrier : public UnaryLayer {
 public:
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(carry_mask_);
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override {
    if (masks.empty() || !masks[0]) return {Tensor()};
    const Tensor mask = output_mask(masks[0], inputs[0], outputs[0]);
    if (!mask && !std::exchange(has_warned_, true))
      warn("Layer '", name(), "' (of type ", class_name(), ") was passed a mask of shape ",
           masks[0].shape(), ", for which its output of shape ", outputs[0].shape(),
           " has none. Downstream layers will not see the mask.");
    return {mask};
  }

 protected:
  template <class T>
  static void describe_carry_mask(Schema<T>& s) {
    s.keyword_only(true)
        .field("carry_mask", &MaskCarrier::carry_mask_,
               "Pass a mask of the steps to the next layers if the input has one; false drops the "
               "mask, as Keras does.")
        .keyword_only(false);
  }
  /// The mask of the output y, computed from the mask of the input x; null if y can have none.
  virtual Tensor output_mask(const Tensor& /*mask*/, const Tensor& /*x*/,
                             const Tensor& /*y*/) const {
    return {};
  }

  bool carry_mask_ = false;  ///< set by the constructors of layers that have the option carry_mask

 private:
  bool has_warned_ = false;
};

/// The mask of windows over a mask (batch, steps). Without padding a window is unmasked if all of
/// its steps are; with padding window i is unmasked if step i * stride is.
inline Tensor mask_of_windows(const Tensor& mask, int64_t window, int64_t stride, int64_t dilation,
                              const std::string& padding) {
  if (mask.rank() != 2) return {};
  if (padding != "valid") return ops::slice_axis(mask, 1, 0, mask.dim(1), stride);
  const Tensor masked_steps =
      ops::expand_dims(ops::cast(ops::logical_not(mask), DType::float32), -1);
  const Tensor kernel = ops::ones({window, 1, 1});
  const Tensor masked_count =
      ops::conv(masked_steps, kernel, {stride}, ops::Padding::valid, {dilation});
  return ops::equal(ops::squeeze(masked_count, -1), 0);
}

}  // namespace crescent
