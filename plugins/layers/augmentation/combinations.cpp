// Random choices among other augmentations.
#include "augmentation.h"
#include "crescent/registry/registration.h"
#include "ranges.h"
#include "variates.h"

namespace crescent {
namespace {

/// The base of layers that choose at random among other layers: eleven, or the first seven of them
/// if all_ops is false.
class ChoosingAugmentation : public ImageAugmentation {
 public:
  void configured() override {
    ImageAugmentation::configured();
    const Range range = range_of("factor", factor_, {0, 1});
    const Value factor = List{range.low, range.high}, values = Value(value_range_);
    const auto add_choice = [&](const char* name, const Dict& options) {
      choices_.push_back(augmentation(name, options));
    };
    add_choice("RandomShear",
               {{"x_factor", factor}, {"y_factor", factor}, {"interpolation", interpolation_}});
    add_choice(
        "RandomTranslation",
        {{"height_factor", factor}, {"width_factor", factor}, {"interpolation", interpolation_}});
    add_choice("RandomRotation", {{"factor", factor}, {"interpolation", interpolation_}});
    const auto bit_count = std::max<int64_t>(1, static_cast<int64_t>(8 * range.high));
    add_choice("RandomPosterization", {{"factor", bit_count}, {"value_range", values}});
    add_choice(
        "Solarization",
        {{"addition_factor", factor}, {"threshold_factor", factor}, {"value_range", values}});
    add_choice("AutoContrast", {{"value_range", values}});
    add_choice("Equalization", {{"value_range", values}});
    if (!all_ops_) return;
    for (const char* name :
         {"RandomBrightness", "RandomColorDegeneration", "RandomContrast", "RandomSharpness"})
      add_choice(name, {{"factor", factor}, {"value_range", values}});
  }

 protected:
  template <class T>
  static void describe_factor(Schema<T>& s) {
    s.field("factor", &ChoosingAugmentation::factor_,
            "Strength of the augmentations: two numbers as limits, or one number f for 0 to f.");
  }
  template <class T>
  static void describe_interpolation(Schema<T>& s) {
    s.field("interpolation", &ChoosingAugmentation::interpolation_,
            "How values between pixels are computed.")
        .choices({"nearest", "bilinear"});
  }
  template <class T>
  static void describe_all_ops(Schema<T>& s) {
    s.field("all_ops", &ChoosingAugmentation::all_ops_,
            "Also use brightness, contrast, sharpness and colour degeneration.");
  }
  explicit ChoosingAugmentation(double factor) : factor_(factor) {}

  int64_t choice_count() const { return static_cast<int64_t>(choices_.size()); }
  /// Draws the random numbers that each of the layers needs.
  std::vector<RandomParameters> draw_all(const TensorSpec& images,
                                         const SeedGenerator& random) const {
    std::vector<RandomParameters> parameters;
    for (const AugmentationPtr& choice : choices_)
      parameters.push_back(choice->draw(images, random));
    return parameters;
  }
  /// Draws indices from 0 to `count` - 1.
  static Tensor draw_indices(const SeedGenerator& random, const Shape& shape, int64_t count) {
    return ops::floor(random.uniform(shape, 0, static_cast<double>(count)));
  }
  /// Applies the layer with the index `layer_index` to x, or returns x if the index means that no
  /// layer is chosen. While a program is recorded the index is unknown, so the results of all
  /// layers are computed and one is selected.
  template <class F>
  Tensor apply_chosen(const Tensor& x, const Tensor& layer_index,
                      const std::vector<RandomParameters>& random_numbers, F f) const {
    if (!layer_index.is_abstract()) {
      const auto i = static_cast<size_t>(layer_index.item());
      return i < choices_.size() ? f(*choices_[i], x, random_numbers[i]) : x;
    }
    Tensor result = x;
    for (size_t i = 0; i < choices_.size(); ++i)
      result = ops::where(ops::equal(layer_index, static_cast<double>(i)),
                          f(*choices_[i], x, random_numbers[i]), result);
    return result;
  }

 private:
  Value factor_;
  bool all_ops_ = true;
  std::string interpolation_ = "bilinear";
  std::vector<AugmentationPtr> choices_;
};

Tensor apply_to_images(const ImageAugmentation& choice, const Tensor& images,
                       const RandomParameters& random_numbers) {
  return choice.change_images(images, random_numbers);
}
Tensor apply_to_masks(const ImageAugmentation& choice, const Tensor& masks,
                      const RandomParameters& random_numbers) {
  return choice.change_masks(masks, random_numbers);
}

class RandAugment final : public ChoosingAugmentation {
 public:
  RandAugment() : ChoosingAugmentation(0.5) {}
  static void describe(Schema<RandAugment>& s) {
    s.doc(
        "Applies randomly chosen augmentations of eleven kinds, the same ones to all images of a "
        "batch (Cubuk et al. 2019).");
    describe_value_range(s);
    s.field("num_ops", &RandAugment::num_ops_, "Number of augmentations.").min(1).max(64);
    describe_factor(s);
    describe_interpolation(s);
    describe_seed(s);
    describe_data_format(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    RandomParameters random_numbers{draw_indices(random, {num_ops_}, choice_count())};
    random_numbers.nested = draw_all(images, random);
    return random_numbers;
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return apply_in_turn(images, random_numbers, apply_to_images);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return apply_in_turn(masks, random_numbers, apply_to_masks);
  }
  BoundingBoxes change_boxes(const BoundingBoxes& original, const TensorSpec& images,
                             const RandomParameters& random_numbers) const override {
    const auto move_boxes = [&](const ImageAugmentation& choice, const Tensor& boxes,
                                const RandomParameters& layer_numbers) {
      return choice.change_boxes({boxes, original.labels}, images, layer_numbers).boxes;
    };
    return {apply_in_turn(original.boxes, random_numbers, move_boxes), original.labels};
  }

 private:
  template <class F>
  Tensor apply_in_turn(const Tensor& x, const RandomParameters& random_numbers, F f) const {
    Tensor result = x;
    for (int64_t i = 0; i < num_ops_; ++i)
      result = apply_chosen(result, ops::slice_axis(random_numbers[0], 0, i, i + 1),
                            random_numbers.nested, f);
    return result;
  }

  int64_t num_ops_ = 2;
};

class AugMix final : public ChoosingAugmentation {
 public:
  AugMix() : ChoosingAugmentation(0.3) {}
  static void describe(Schema<AugMix>& s) {
    s.doc(
        "Mixes images with the results of several chains of random augmentations (Hendrycks et al. "
        "2019).");
    describe_value_range(s);
    s.field("num_chains", &AugMix::num_chains_, "Number of chains.")
        .min(1)
        .max(64)
        .field("chain_depth", &AugMix::chain_depth_, "Maximum number of augmentations in a chain.")
        .min(1)
        .max(64);
    describe_factor(s);
    s.field("alpha", &AugMix::alpha_,
            "Parameter of the Dirichlet and Beta distributions of the mixing weights.")
        .min(1e-6);
    describe_all_ops(s);
    describe_interpolation(s);
    describe_seed(s);
    describe_data_format(s);
  }
  /// Draws the weights of the chains, the weight of the original images, the choices of layers, and
  /// for each choice the random numbers of all layers.
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const Tensor alpha = ops::full({}, alpha_, images.dtype);
    const Tensor weights = ops::softmax(random_log_gamma(random, {num_chains_}, alpha));
    const Tensor original_share = random_beta(random, {1}, alpha);
    const int64_t step_count = num_chains_ * chain_depth_;
    RandomParameters random_numbers{weights, original_share,
                                    draw_indices(random, {step_count}, choice_count() + 1)};
    for (int64_t i = 0; i < step_count; ++i) {
      RandomParameters step;
      step.nested = draw_all(images, random);
      random_numbers.nested.push_back(std::move(step));
    }
    return random_numbers;
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return clip_to_range(mix_chains(images, random_numbers, apply_to_images));
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    const bool has_float_masks = is_floating(masks.dtype());
    return mix_chains(has_float_masks ? masks : ops::cast(masks, DType::float32), random_numbers,
                      apply_to_masks);
  }
  /// Boxes are not changed, since the result also shows the original images.
  BoundingBoxes change_boxes(const BoundingBoxes& original, const TensorSpec&,
                             const RandomParameters&) const override {
    return original;
  }

 private:
  template <class F>
  Tensor mix_chains(const Tensor& x, const RandomParameters& random_numbers, F f) const {
    const auto element_at = [](const Tensor& numbers, int64_t i) {
      return ops::slice_axis(numbers, 0, i, i + 1);
    };
    Tensor mixture = ops::zeros_like(x);
    for (int64_t chain_index = 0; chain_index < num_chains_; ++chain_index) {
      Tensor changed = x;
      for (int64_t i = chain_index * chain_depth_; i < (chain_index + 1) * chain_depth_; ++i)
        changed = apply_chosen(changed, element_at(random_numbers[2], i),
                               random_numbers.nested[i].nested, f);
      mixture =
          mixture + changed * ops::cast(element_at(random_numbers[0], chain_index), x.dtype());
    }
    const Tensor original_share = ops::cast(random_numbers[1], x.dtype());
    return original_share * x + (1.0 - original_share) * mixture;
  }

  int64_t num_chains_ = 3, chain_depth_ = 3;
  double alpha_ = 1;
};

}  // namespace

CRESCENT_REGISTER(combinations) {
  registry.add<RandAugment>("RandAugment");
  registry.add<AugMix>("AugMix");
}

}  // namespace crescent
