// Random sharpening, blurring and erasing of parts of images.
#include "boxes.h"
#include "chance.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// Convolves each channel with the same kernel (height, width).
Tensor filter_channels(const Tensor& images, const Tensor& kernel) {
  const int64_t channels = images.dim(-1);
  const Tensor kernels =
      ops::broadcast_to(ops::reshape(kernel, {kernel.dim(0), kernel.dim(1), 1, 1}),
                        {kernel.dim(0), kernel.dim(1), 1, channels});
  return ops::conv(images, kernels, {1, 1}, ops::Padding::same, {1, 1}, channels);
}

class RandomSharpness final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomSharpness>& s) {
    s.doc("Blurs or sharpens each image by a random factor.")
        .field("factor", &RandomSharpness::factor_,
               "Factor: 0 blurs, 0.5 leaves unchanged, 1 sharpens; two numbers as limits, or one "
               "number f for 0 to f.")
        .required();
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    range_ = range_of("factor", factor_, {0, 1});
    std::sort(value_range_.begin(), value_range_.end());
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {range_.draw(random, per_image_shape(images), images.dtype, 2)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    std::vector<double> weights(9, 1.0 / 13);
    weights[4] = 5.0 / 13;
    const Tensor smoothed_images =
        filter_channels(images, ops::cast(Tensor::from(weights, {3, 3}), images.dtype()));
    return clip_to_range(images + (1.0 - random_numbers[0]) * (smoothed_images - images));
  }

 private:
  Value factor_;
  Range range_;
};

class RandomGaussianBlur final : public ChanceAugmentation {
 public:
  static void describe(Schema<RandomGaussianBlur>& s) {
    s.doc("Smooths some images with a Gaussian filter of random width, the same for the batch.");
    describe_chance(s);
    s.field("kernel_size", &RandomGaussianBlur::kernel_size_,
            "Size of the filter in pixels, odd: one number, or one for rows and one for columns.")
        .min(1)
        .max(4095)
        .field("sigma", &RandomGaussianBlur::sigma_,
               "Standard deviation as a fraction of a pixel: two numbers as limits, or one number "
               "f for 0 to f.");
    describe_value_range(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    ChanceAugmentation::configured();
    sigma_range_ = range_within("sigma", sigma_, {0, 1});
    if (kernel_size_.empty() || kernel_size_.size() > 2)
      fail(
          "The `kernel_size` argument should be a number (or a list of two numbers). Received: "
          "kernel_size=",
          Value(kernel_size_));
    kernel_size_.resize(2, kernel_size_.front());
    for (const int64_t size : kernel_size_)
      if (size % 2 == 0)
        fail("kernel_size must be an odd number. Received: kernel_size=", Value(kernel_size_));
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const Tensor is_chosen = draw_choice(images, random);
    return {is_chosen, sigma_range_.draw(random, {2}, images.dtype) + 1e-6};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor row = gaussian_row(kernel_size_.front(),
                                    ops::slice_axis(random_numbers[1], 0, 0, 1)),
                 column =
                     gaussian_row(kernel_size_.back(), ops::slice_axis(random_numbers[1], 0, 1, 2));
    const Tensor kernel = ops::expand_dims(column, 1) * ops::expand_dims(row, 0);
    return clip_to_range(ops::where(random_numbers[0], filter_channels(images, kernel), images));
  }

 private:
  static Tensor gaussian_row(int64_t size, const Tensor& sigma) {
    const Tensor x = ops::arange(size, sigma.dtype()) - double(size - 1) / 2;
    const Tensor values = ops::exp(ops::square(x / sigma) * -0.5);
    return values / ops::sum(values);
  }

  Value sigma_ = 1.0;
  std::vector<int64_t> kernel_size_ = {3, 3};
  Range sigma_range_;
};

class RandomErasing final : public ChanceAugmentation {
 public:
  static void describe(Schema<RandomErasing>& s) {
    s.doc("Replaces a random rectangle of some images by noise or a constant.");
    describe_chance(s);
    s.field("scale", &RandomErasing::scale_,
            "Limits between which the squares of the rectangle's relative height and width are "
            "drawn: two numbers, or one number f for 0 to f.")
        .field("fill_value", &RandomErasing::fill_value_,
               "Value to fill in: a number, or three for the channels; null: noise.");
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ChanceAugmentation::configured();
    scale_range_ = range_within("scale", scale_, {0, 1});
    const bool has_three_values = fill_value_.is_list() && fill_value_.as_list().size() == 3;
    if (!fill_value_.is_null() && !fill_value_.is_number() && !has_three_values)
      fail(
          "The `fill_value` argument should be a number (or a list of three numbers). Received: "
          "fill_value=",
          fill_value_);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const Tensor side_fractions = ops::sqrt(
        random.uniform({images.shape[0], 2}, scale_range_.low, scale_range_.high, images.dtype));
    const Box box = random_box(images, ops::slice_axis(side_fractions, 1, 0, 1),
                               ops::slice_axis(side_fractions, 1, 1, 2), random);
    const Tensor is_erased = ops::logical_and(box.is_inside, draw_choice(images, random));
    return {is_erased, fill_values(images, random)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return ops::where(random_numbers[0], random_numbers[1], images);
  }

 private:
  Tensor fill_values(const TensorSpec& images, const SeedGenerator& random) const {
    if (fill_value_.is_null())
      return clip_to_range(random.normal(images.shape, 0, 1, images.dtype) * highest_value());
    const auto values = Codec<std::vector<double>>::decode(fill_value_);
    if (values.size() == 3 && images.shape[3] != 3)
      fail("fill_value: three numbers are for three channels, got ", images.shape[3]);
    return clip_to_range(
        ops::cast(Tensor::from(values, {1, 1, 1, int64_t(values.size())}), images.dtype));
  }

  Value scale_ = List{0.02, 0.33}, fill_value_;
  Range scale_range_;
};

}  // namespace

CRESCENT_REGISTER(filters) {
  registry.add<RandomSharpness>("RandomSharpness");
  registry.add<RandomGaussianBlur>("RandomGaussianBlur");
  registry.add<RandomErasing>("RandomErasing");
}

}  // namespace crescent
