// Pooling over all spatial axes.
#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes, bool Max>
class GlobalPooling final : public SpatialLayer<Axes> {
 public:
  static void describe(Schema<GlobalPooling>& s) {
    s.doc(Max ? "The maximum of each channel over the spatial axes."
              : "The mean of each channel over the spatial axes.");
    GlobalPooling::describe_data_format(s);
    s.field("keepdims", &GlobalPooling::keepdims_, "Keep the spatial axes with size 1.");
  }
  void configured() override {
    SpatialLayer<Axes>::configured();
    this->set_supports_masking(kSupportsMask);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    const int first_axis = this->first_spatial_axis();
    ops::Axes axes;
    for (int i = 0; i < Axes; ++i) axes.push_back(first_axis + i);
    if (Max) return ops::max(x, axes, keepdims_);
    if (kSupportsMask && call.mask()) return masked_mean(x, call.mask(), first_axis);
    return ops::mean(x, axes, keepdims_);
  }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors&) override {
    return {Tensor()};
  }

 private:
  static constexpr bool kSupportsMask = Axes == 1 && !Max;
  /// The mean over the unmasked steps; 0 if all steps are masked.
  Tensor masked_mean(const Tensor& x, const Tensor& mask, int axis) const {
    const Tensor weights = ops::expand_dims(ops::cast(mask, x.dtype()), axis == 1 ? 2 : 1);
    const Tensor count = ops::maximum(ops::sum(weights, {axis}, keepdims_), 1);
    return ops::sum(x * weights, {axis}, keepdims_) / count;
  }
  bool keepdims_ = false;
};

template <int Axes>
void add_global(Registry& registry) {
  const std::string axes_text = std::to_string(Axes) + "D";
  registry.add<GlobalPooling<Axes, true>>("GlobalMaxPooling" + axes_text,
                                          {"GlobalMaxPool" + axes_text});
  registry.add<GlobalPooling<Axes, false>>("GlobalAveragePooling" + axes_text,
                                           {"GlobalAvgPool" + axes_text});
}

}  // namespace

CRESCENT_REGISTER(global_pooling) {
  add_global<1>(registry);
  add_global<2>(registry);
  add_global<3>(registry);
}

}  // namespace crescent
