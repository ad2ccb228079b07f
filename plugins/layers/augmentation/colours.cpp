// Random brightness, contrast and colours of images, with a random number per image.
#include "augmentation.h"
#include "chance.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

constexpr const char* kPairText = "two numbers as limits, or one number f for -f to f";

/// The base of layers that draw a number for each image from the range `factor`.
class FactorAugmentation : public ImageAugmentation {
 public:
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {factor(images, random)};
  }

 protected:
  template <class T>
  static void describe_factor(Schema<T>& s, const char* doc) {
    s.field("factor", &FactorAugmentation::factor_, concat(doc, ": ", kPairText, ".")).required();
  }
  /// Sets the range of the option `factor`; configured() must call this.
  void set_bounds(const Bounds& bounds) { range_ = range_of("factor", factor_, bounds); }
  void sort_value_range() { std::sort(value_range_.begin(), value_range_.end()); }
  Tensor factor(const TensorSpec& images, const SeedGenerator& random, double scale = 1) const {
    return range_.draw(random, per_image_shape(images), images.dtype, scale);
  }
  const Range& range() const { return range_; }

 private:
  Value factor_;
  Range range_;
};

/// Draws 1 or -1 with equal probability for each image.
Tensor random_signs(const TensorSpec& images, const SeedGenerator& random) {
  const Shape shape = per_image_shape(images);
  return ops::where(ops::greater(random.uniform(shape, 0, 1, images.dtype), 0.5), -1.0,
                    ops::ones(shape, images.dtype));
}

Tensor to_grey(const Tensor& images) {
  return operation("image.rgb_to_grayscale", {{"images", boxed(images)}});
}

/// Converts images to hue, saturation and value, applies f, and converts the result back.
template <class F>
Tensor change_in_hsv(const Tensor& images, F f) {
  const Tensor hsv = operation("image.rgb_to_hsv", {{"images", boxed(images)}});
  const Tensor changed_hsv = ops::concatenate(f(ops::split(hsv, {1, 1, 1}, -1)), -1);
  return operation("image.hsv_to_rgb", {{"images", boxed(changed_hsv)}});
}

class RandomBrightness final : public FactorAugmentation {
 public:
  static void describe(Schema<RandomBrightness>& s) {
    s.doc("Adds a random brightness to images.");
    describe_factor(s, "Brightness to add as a fraction of the range of values");
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    FactorAugmentation::configured();
    set_bounds({-1, 1});
    sort_value_range();
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {factor(images, random, highest_value() - lowest_value())};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return clip_to_range(images + random_numbers[0]);
  }
};

class RandomContrast final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomContrast>& s) {
    s.doc(
         "Changes the contrast by a random factor: moves values away from the mean of their "
         "channel.")
        .field("factor", &RandomContrast::factor_,
               "Limits: two numbers a and b draw the factor from 1 - a to 1 + b; one number f "
               "stands for {0, f}.")
        .required();
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    const Range range = range_of("factor", factor_, {0, 1});
    contrast_ = {1 - range.low, 1 + range.high};
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {contrast_.draw(random, per_image_shape(images), images.dtype)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor mean = ops::mean(images, {1, 2}, true);
    return clip_to_range((images - mean) * random_numbers[0] + mean);
  }

 private:
  Value factor_;
  Range contrast_;
};

class RandomColorDegeneration final : public FactorAugmentation {
 public:
  static void describe(Schema<RandomColorDegeneration>& s) {
    s.doc("Moves colours towards grey by a random amount.");
    describe_factor(s, "Amount, where 1 is grey");
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    FactorAugmentation::configured();
    set_bounds({-1, 1});
    sort_value_range();
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return clip_to_range(images + random_numbers[0] * (to_grey(images) - images));
  }
};

class RandomSaturation final : public FactorAugmentation {
 public:
  static void describe(Schema<RandomSaturation>& s) {
    s.doc(
        "Multiplies the saturation by f / (1 - f) with random f: below 0.5 colours fade, above "
        "they intensify.");
    describe_factor(s, "The f");
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    FactorAugmentation::configured();
    set_bounds({-1, 1});
    sort_value_range();
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    constexpr double kEpsilon = 1e-7;
    const Tensor saturation_scale = random_numbers[0] / (1.0 - random_numbers[0] + kEpsilon);
    return change_in_hsv(images, [&](const Tensors& hsv) {
      return Tensors{hsv[0], clip_to_range(hsv[1] * saturation_scale), hsv[2]};
    });
  }
};

class RandomHue final : public FactorAugmentation {
 public:
  static void describe(Schema<RandomHue>& s) {
    s.doc("Shifts the hue of images by a random amount.");
    describe_factor(s, "Shift as a fraction of half a turn");
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    FactorAugmentation::configured();
    set_bounds({0, 1});
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const Tensor sign = random_signs(images, random);
    return {sign * factor(images, random, 0.5)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor unit_images = rescale_values(images, lowest_value(), highest_value(), 0, 1);
    const Tensor hue_shifted = change_in_hsv(unit_images, [&](const Tensors& hsv) {
      Tensor hue = hsv[0] + random_numbers[0];
      hue = ops::where(ops::greater(hue, 1), hue - 1.0, hue);
      return Tensors{ops::where(ops::less(hue, 0), hue + 1.0, hue), hsv[1], hsv[2]};
    });
    return rescale_values(ops::clip(hue_shifted, 0, 1), 0, 1, lowest_value(), highest_value());
  }
};

class RandomGrayscale final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomGrayscale>& s) {
    s.doc("Converts images to grey, in three equal channels, with a probability.")
        .field("factor", &RandomGrayscale::factor_, "Probability of converting an image.")
        .min(0)
        .max(1);
    describe_data_format(s);
    describe_seed(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {ops::less(random.uniform(per_image_shape(images)), factor_)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return ops::where(random_numbers[0], to_grey(images), images);
  }

 private:
  double factor_ = 0.5;
};

class RandomInvert final : public ChanceAugmentation {
 public:
  static void describe(Schema<RandomInvert>& s) {
    s.doc("Inverts the values of some images: the maximum minus each value.");
    describe_chance(s);
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {draw_choice(images, random)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return ops::where(random_numbers[0], highest_value() - images, images);
  }
};

/// Applies four layers one after another; a layer is left out if its factor is not given.
class RandomColorJitter final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomColorJitter>& s) {
    s.doc("Changes brightness, contrast, saturation and hue by random amounts, in this order.");
    describe_value_range(s);
    s.field("brightness_factor", &RandomColorJitter::brightness_factor_,
            "Factor of RandomBrightness.")
        .field("contrast_factor", &RandomColorJitter::contrast_factor_, "Factor of RandomContrast.")
        .field("saturation_factor", &RandomColorJitter::saturation_factor_,
               "Factor of RandomSaturation.")
        .field("hue_factor", &RandomColorJitter::hue_factor_, "Factor of RandomHue.");
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    const std::pair<const char*, const Value&> steps[] = {{"RandomBrightness", brightness_factor_},
                                                          {"RandomContrast", contrast_factor_},
                                                          {"RandomSaturation", saturation_factor_},
                                                          {"RandomHue", hue_factor_}};
    for (const auto& [name, factor] : steps)
      if (!factor.is_null())
        steps_.push_back(
            augmentation(name, {{"factor", factor}, {"value_range", Value(value_range_)}}));
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    RandomParameters random_numbers;
    for (const auto& step : steps_) random_numbers.nested.push_back(step->draw(images, random));
    return random_numbers;
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    Tensor result = images;
    for (size_t i = 0; i < steps_.size(); ++i)
      result = steps_[i]->change_images(result, random_numbers.nested[i]);
    return result;
  }

 private:
  Value brightness_factor_, contrast_factor_, saturation_factor_, hue_factor_;
  std::vector<AugmentationPtr> steps_;
};

}  // namespace

CRESCENT_REGISTER(colours) {
  registry.add<RandomBrightness>("RandomBrightness");
  registry.add<RandomContrast>("RandomContrast");
  registry.add<RandomColorDegeneration>("RandomColorDegeneration");
  registry.add<RandomSaturation>("RandomSaturation");
  registry.add<RandomHue>("RandomHue");
  registry.add<RandomGrayscale>("RandomGrayscale");
  registry.add<RandomInvert>("RandomInvert");
  registry.add<RandomColorJitter>("RandomColorJitter");
}

}  // namespace crescent
