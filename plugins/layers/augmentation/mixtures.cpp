// Layers that mix the images of a batch at random, together with their labels.
#include "boxes.h"
#include "crescent/registry/registration.h"
#include "ranges.h"
#include "variates.h"

namespace crescent {
namespace {

/// The rows of x reordered by indices.
Tensor reorder_rows(const Tensor& x, const Tensor& order) { return ops::gather(x, order, 0); }

Tensor mix(const Tensor& x, const Tensor& partner, const Tensor& weight) {
  return weight * x + (1.0 - weight) * partner;
}

/// Mixes the labels with the labels reordered by `order`. The weight of the labels is `weight`
/// (batch, 1), that of the reordered labels is 1 - weight.
Tensor mix_labels(const Tensor& labels, const Tensor& order, const Tensor& weight) {
  if (labels.rank() != 2)
    fail("labels are mixed: expected one number a class, (batch, classes), got shape ",
         labels.shape());
  if (!labels.shape().compatible({order.dim(0), labels.dim(1)}))
    fail("expected labels for each of ", order.dim(0), " images, got shape ", labels.shape());
  const Tensor numbers = is_floating(labels.dtype()) ? labels : ops::cast(labels, weight.dtype());
  return mix(numbers, reorder_rows(numbers, order), ops::cast(weight, numbers.dtype()));
}

class MixUp final : public ImageAugmentation {
 public:
  static void describe(Schema<MixUp>& s) {
    s.doc(
         "Mixes images, labels and masks of a batch pairwise by random weights (Zhang et al. "
         "2017).")
        .field("alpha", &MixUp::alpha_, "The weights are drawn from Beta(alpha, alpha).")
        .min(1e-6);
    describe_data_format(s);
    describe_seed(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const int64_t batch = images.shape[0];
    const Tensor order = random_order(random, batch);
    return {order, random_beta(random, {batch, 1}, Tensor::full({}, alpha_, images.dtype))};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor weight = ops::reshape(random_numbers[1], {images.dim(0), 1, 1, 1});
    return mix(images, reorder_rows(images, random_numbers[0]), weight);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return change_images(
        is_floating(masks.dtype()) ? masks : ops::cast(masks, random_numbers[1].dtype()),
        random_numbers);
  }
  Tensor change_labels(const Tensor& labels,
                       const RandomParameters& random_numbers) const override {
    return mix_labels(labels, random_numbers[0], random_numbers[1]);
  }
  /// The result has the boxes of both images.
  BoundingBoxes change_boxes(const BoundingBoxes& original, const TensorSpec&,
                             const RandomParameters& random_numbers) const override {
    const auto with_partners = [&](const Tensor& x) {
      return ops::concatenate(Tensors{x, reorder_rows(x, random_numbers[0])}, 1);
    };
    return {with_partners(original.boxes), with_partners(original.labels)};
  }

 private:
  double alpha_ = 0.2;
};

class CutMix final : public ImageAugmentation {
 public:
  static void describe(Schema<CutMix>& s) {
    s.doc(
         "Replaces a rectangle of each image by that of another image of the batch and mixes the "
         "labels by area (Yun et al. 2019).")
        .field("factor", &CutMix::factor_,
               "Limits between which alpha is drawn, for areas from Beta(alpha, alpha): two "
               "numbers, or one number f for 0 to f.");
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    range_ = range_of("factor", factor_, {0, 1});
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const int64_t batch = images.shape[0];
    const Tensor alpha = range_.draw(random, {}, images.dtype) + 1e-6;
    const Tensor side_fraction = ops::sqrt(1.0 - random_beta(random, {batch, 1}, alpha));
    const Box box = random_box(images, side_fraction, side_fraction, random);
    return {random_order(random, batch), box.is_inside, 1.0 - box.area_fraction};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return ops::where(random_numbers[1], reorder_rows(images, random_numbers[0]), images);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return change_images(masks, random_numbers);
  }
  Tensor change_labels(const Tensor& labels,
                       const RandomParameters& random_numbers) const override {
    return mix_labels(labels, random_numbers[0], random_numbers[2]);
  }
  BoundingBoxes change_boxes(const BoundingBoxes&, const TensorSpec&,
                             const RandomParameters&) const override {
    fail_with_boxes();
  }

 private:
  Value factor_ = 1.0;
  Range range_;
};

}  // namespace

CRESCENT_REGISTER(mixtures) {
  registry.add<MixUp>("MixUp");
  registry.add<CutMix>("CutMix");
}

}  // namespace crescent
