// Layers that change images at random.
#include "augmentation.h"

#include "crescent/plugin.h"

namespace crescent {
namespace {

/// What images are computed in: float32 where the layer computes in less.
DType working_dtype(DType compute) {
  return compute == DType::float64 ? DType::float64 : DType::float32;
}

/// A batch with the channels last, and the way back.
class Batched {
 public:
  Batched(const Tensor& like, bool channels_first)
      : single_(like.rank() == 3), channels_first_(channels_first) {}
  Tensor in(const Tensor& x) const {
    const Tensor batch = single_ ? ops::expand_dims(x, 0) : x;
    return channels_first_ ? ops::transpose(batch, {0, 2, 3, 1}) : batch;
  }
  Tensor out(const Tensor& x) const {
    return one(channels_first_ ? ops::transpose(x, {0, 3, 1, 2}) : x);
  }
  /// Labels have no channels.
  Tensor labels_in(const Tensor& x) const { return single_ ? ops::expand_dims(x, 0) : x; }
  Tensor one(const Tensor& x) const { return single_ ? ops::squeeze(x, 0) : x; }

 private:
  bool single_, channels_first_;
};

}  // namespace

void ImageAugmentation::configured() {
  Layer::configured();
  if (value_range_.size() != 2)
    fail("The `value_range` argument should be a list of two numbers. Received: value_range=",
         Value(value_range_));
  InputSpec spec = InputSpec::with_min_ndim(3);
  spec.max_ndim = 4;
  set_input_specs({spec});
  random_ = add_seed_generator(seed_);
}

Tensors ImageAugmentation::call(const Tensors& inputs, const Call& call) {
  const Batched batched(inputs[0], data_format_ == "channels_first");
  const Tensor images = batched.in(ops::cast(inputs[0], working_dtype(compute_dtype())));
  const Tensor labels = call.tensor("labels"), masks = call.tensor("segmentation_masks");
  if (masks && masks.rank() != inputs[0].rank())
    fail("expected segmentation_masks with as many axes as the images, which have shape ",
         inputs[0].shape(), ", got shape ", masks.shape());
  // While only shapes are worked out there is nothing to draw for an unknown batch.
  const bool active = call.training && images.shape().is_known();
  const Drawn drawn = active ? draw(images.spec(), *random_) : Drawn();
  const Tensor changed = active ? change(images, drawn) : settle(images);
  Tensors results{ops::cast(batched.out(changed), compute_dtype())};
  if (labels)
    results.push_back(active ? batched.one(change_labels(batched.labels_in(labels), drawn))
                             : labels);
  if (masks) {
    const Tensor batch = batched.in(masks);
    results.push_back(batched.out(active ? change_masks(batch, drawn) : settle_masks(batch)));
  }
  return results;
}

}  // namespace crescent

CRESCENT_PLUGIN("augmentation", CRESCENT_VERSION) {
  crescent::add_affine(registry);
  crescent::add_colours(registry);
  crescent::add_combinations(registry);
  crescent::add_crops(registry);
  crescent::add_distortions(registry);
  crescent::add_filters(registry);
  crescent::add_histograms(registry);
  crescent::add_mixtures(registry);
  crescent::add_pipeline(registry);
  crescent::add_tones(registry);
}
