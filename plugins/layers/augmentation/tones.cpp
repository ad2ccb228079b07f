// Layers that change the tones of images: posterization, solarization, automatic contrast. The
// layers first scale images to values from 0 to 255.
#include "augmentation.h"
#include "crescent/registry/registration.h"
#include "ranges.h"

namespace crescent {
namespace {

class ToneAugmentation : public ImageAugmentation {
 public:
  void configured() override {
    ImageAugmentation::configured();
    std::sort(value_range_.begin(), value_range_.end());
  }

 protected:
  Tensor to_bytes(const Tensor& images) const {
    return rescale_values(images, lowest_value(), highest_value(), 0, 255);
  }
  Tensor from_bytes(const Tensor& images) const {
    return rescale_values(images, 0, 255, lowest_value(), highest_value());
  }
};

class RandomPosterization final : public ToneAugmentation {
 public:
  static void describe(Schema<RandomPosterization>& s) {
    s.doc("Reduces images of 8 bits per value to their highest bits.")
        .field("factor", &RandomPosterization::factor_,
               "Number of bits, 1 to 8: two numbers as limits (the second excluded), or one number "
               "f stands for {1, f}.")
        .required();
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    ToneAugmentation::configured();
    bits_ = range_of("factor", factor_, {1, 8});
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const Shape shape = per_image_shape(images);
    if (bits_.low == bits_.high) return {ops::full(shape, bits_.low, images.dtype)};
    const Tensor bits = ops::floor(bits_.draw(random, shape, images.dtype));
    return {ops::minimum(bits, bits_.high - 1)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor levels = ops::floor(ops::clip(to_bytes(images), 0, 255));
    const Tensor step =
        ops::power(2.0 * ops::ones_like(random_numbers[0]), 8.0 - random_numbers[0]);
    return from_bytes(ops::floor(levels / step) * step);
  }

 private:
  Value factor_;
  Range bits_;
};

class Solarization final : public ToneAugmentation {
 public:
  static void describe(Schema<Solarization>& s) {
    s.doc(
         "Inverts the values of images (0 to 255) at and above a random threshold, after adding a "
         "random amount.")
        .field("addition_factor", &Solarization::addition_factor_,
               "Amount to add, as a fraction of 255: one number f draws from 0 to 255 f, two "
               "numbers a and b from 255 a to 255 b.")
        .field("threshold_factor", &Solarization::threshold_factor_,
               "Limits of the threshold, in the same way.");
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ToneAugmentation::configured();
    addition_ = range_within("addition_factor", addition_factor_, {0, 1});
    threshold_ = range_within("threshold_factor", threshold_factor_, {0, 1});
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const auto draw_from = [&](const Range& range) {
      return random.uniform(per_image_shape(images), range.low, range.high * 255, images.dtype);
    };
    const Tensor addition = draw_from(addition_);
    return {addition, draw_from(threshold_)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor sum = ops::clip(to_bytes(images) + random_numbers[0], 0, 255);
    return from_bytes(ops::where(ops::less(sum, random_numbers[1]), sum, 255.0 - sum));
  }

 private:
  Value addition_factor_ = 0.0, threshold_factor_ = 0.0;
  Range addition_, threshold_;
};

class AutoContrast final : public ToneAugmentation {
 public:
  static void describe(Schema<AutoContrast>& s) {
    s.doc(
        "Stretches the values of each channel of each image to the whole range, also in "
        "inference.");
    describe_value_range(s);
    describe_data_format(s);
  }
  Tensor change_images(const Tensor& images, const RandomParameters&) const override {
    const Tensor bytes = to_bytes(images);
    const Tensor low = ops::min(bytes, {1, 2}, true), range = ops::max(bytes, {1, 2}, true) - low;
    const Tensor has_range = ops::greater(range, 0);
    const Tensor scale = 255.0 / ops::where(has_range, range, 1.0);
    const Tensor stretched_images = from_bytes(ops::clip(bytes * scale - low * scale, 0, 255));
    return ops::where(has_range, stretched_images, images);
  }
  Tensor inference_images(const Tensor& images) const override { return change_images(images, {}); }
};

}  // namespace

CRESCENT_REGISTER(tones) {
  registry.add<RandomPosterization>("RandomPosterization");
  registry.add<Solarization>("Solarization");
  registry.add<AutoContrast>("AutoContrast");
}

}  // namespace crescent
