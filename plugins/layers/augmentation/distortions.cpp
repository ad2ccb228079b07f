// Random perspective and elastic distortion of images.
#include "augmentation.h"
#include "chance.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class RandomPerspective final : public ChanceAugmentation {
 public:
  static void describe(Schema<RandomPerspective>& s) {
    s.doc("Distorts the perspective of some images by moving their corners.");
    describe_chance(s);
    s.field("scale", &RandomPerspective::scale_,
            "Corners move by at most half this fraction of the size.")
        .min(0)
        .max(1)
        .field("interpolation", &RandomPerspective::interpolation_,
               "How values between pixels are computed.")
        .choices({"nearest", "bilinear"})
        .field("fill_value", &RandomPerspective::fill_value_, "Value of points outside the image.");
    describe_seed(s);
    describe_data_format(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const int64_t batch = images.shape[0];
    const Tensor is_chosen = draw_choice(images, random);
    const Tensor corner_shifts =
        random.uniform({batch, 4, 2}, -0.5 * scale_, 0.5 * scale_, images.dtype);
    const double last_column = double(images.shape[2] - 1), last_row = double(images.shape[1] - 1);
    const Tensor corners = ops::broadcast_to(
        ops::cast(Tensor::from(
                      std::vector<double>{0, 0, last_column, 0, 0, last_row, last_column, last_row},
                      {1, 4, 2}),
                  images.dtype),
        {batch, 4, 2});
    const Tensor moved_corners = ops::where(ops::reshape(is_chosen, {batch, 1, 1}),
                                            corners + corners * corner_shifts, corners);
    return {is_chosen, corners, moved_corners};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return transform_images(images, random_numbers, interpolation_);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return apply_as_floats(
        masks, [&](const Tensor& m) { return transform_images(m, random_numbers, "nearest"); });
  }
  /// Moves points by the inverse of the transformation, because the transformation maps positions
  /// in the result to positions in the image: the result shows at the old corners the pixels at the
  /// new corners.
  Points change_points(const Points& points, const TensorSpec&,
                       const RandomParameters& random_numbers) const override {
    const Tensor coefficients = operation(
        "image.homography",
        {{"start_points", boxed(random_numbers[2])}, {"end_points", boxed(random_numbers[1])}});
    const auto coefficient = [&](int64_t i) { return ops::slice_axis(coefficients, -1, i, i + 1); };
    const auto linear_part = [&](int64_t i) {
      return coefficient(i) * points.x + coefficient(i + 1) * points.y;
    };
    const Tensor scale = linear_part(6) + 1.0, is_chosen = ops::reshape(random_numbers[0], {-1, 1});
    return {ops::where(is_chosen, (linear_part(0) + coefficient(2)) / scale, points.x),
            ops::where(is_chosen, (linear_part(3) + coefficient(5)) / scale, points.y)};
  }

 private:
  Tensor transform_images(const Tensor& images, const RandomParameters& random_numbers,
                          const std::string& interpolation) const {
    const auto corners = [&](size_t i) {
      return boxed(ops::cast(random_numbers[i], images.dtype()));
    };
    const Tensor transformed_images =
        operation("image.perspective_transform", {{"images", boxed(images)},
                                                  {"start_points", corners(1)},
                                                  {"end_points", corners(2)},
                                                  {"interpolation", interpolation},
                                                  {"fill_value", fill_value_}});
    return ops::where(random_numbers[0], transformed_images, images);
  }

  double scale_ = 1, fill_value_ = 0;
  std::string interpolation_ = "bilinear";
};

/// The matrix (size, size) of weights of a Gaussian blur with the standard deviation `sigma`; its
/// window has int(6 sigma) pixels, rounded up to an odd number.
Tensor blur_matrix(int64_t size, const Tensor& sigma, double largest_sigma) {
  const DType dtype = sigma.dtype();
  const Tensor half_window = ops::floor(ops::floor(sigma * 6.0) * 0.5);
  const auto gaussian_weight = [&](const Tensor& distance) {
    return ops::where(ops::less_equal(ops::abs(distance), half_window),
                      ops::exp(ops::square(distance / sigma) * -0.5), 0.0);
  };
  const auto radius = int64_t(3 * largest_sigma) + 1;
  const Tensor weight_sum =
      ops::sum(gaussian_weight(ops::arange(2 * radius + 1, dtype) - double(radius)));
  const Tensor position = ops::arange(size, dtype);
  return gaussian_weight(ops::expand_dims(position, 0) - ops::expand_dims(position, 1)) /
         weight_sum;
}

class RandomElasticTransform final : public ChanceAugmentation {
 public:
  static void describe(Schema<RandomElasticTransform>& s) {
    s.doc("Distorts some images by smooth random displacements.");
    describe_chance(s);
    s.field("scale", &RandomElasticTransform::scale_,
            "Strength of the distortion: two numbers as limits, or one number f for 0 to f.")
        .field("interpolation", &RandomElasticTransform::interpolation_,
               "How values between pixels are computed.")
        .choices({"nearest", "bilinear"})
        .field("fill_mode", &RandomElasticTransform::fill_mode_,
               "How points outside the image are filled.")
        .choices({"constant", "nearest", "wrap", "mirror", "reflect"})
        .field("fill_value", &RandomElasticTransform::fill_value_,
               "Value of points outside the image with fill_mode \"constant\".");
    describe_value_range(s);
    describe_seed(s);
    describe_data_format(s);
  }
  void configured() override {
    ChanceAugmentation::configured();
    strength_ = range_within("scale", scale_, {0, 1});
  }
  /// Chooses the images to change, and the position in the image from which each pixel of the
  /// result is taken.
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    if (never_changes() || strength_.high == 0) return {};
    const Tensor is_chosen = draw_choice(images, random);
    const Tensor strength = strength_.draw(random, {}, images.dtype);
    const int64_t batch = images.shape[0], height = images.shape[1], width = images.shape[2];
    const double sigma_scale = double(std::min(height, width)) * 0.05;
    const Tensor sigma = ops::maximum(strength * sigma_scale, 1e-6),
                 alpha = strength * (double(std::max(height, width)) * 0.1);
    const Tensor row_blur = blur_matrix(height, sigma, strength_.high * sigma_scale),
                 column_blur = blur_matrix(width, sigma, strength_.high * sigma_scale);
    const auto displaced_positions = [&](const Tensor& position) {
      const Tensor noise = random.normal({batch, height, width}, 0, 1, images.dtype) * sigma;
      return position + alpha * ops::matmul(ops::matmul(row_blur, noise), column_blur);
    };
    const Tensor columns =
        displaced_positions(ops::reshape(ops::arange(width, images.dtype), {1, 1, width}));
    return {is_chosen,
            displaced_positions(ops::reshape(ops::arange(height, images.dtype), {1, height, 1})),
            columns};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    if (random_numbers.tensors.empty()) return images;
    return clip_to_range(distort_images(images, random_numbers, interpolation_));
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    if (random_numbers.tensors.empty()) return masks;
    return apply_as_floats(
        masks, [&](const Tensor& m) { return distort_images(m, random_numbers, "nearest"); });
  }
  BoundingBoxes change_boxes(const BoundingBoxes&, const TensorSpec&,
                             const RandomParameters&) const override {
    fail_with_boxes();
  }

 private:
  Tensor distort_images(const Tensor& images, const RandomParameters& random_numbers,
                        const std::string& interpolation) const {
    const auto coordinates = [&](size_t i) {
      return boxed(ops::cast(random_numbers[i], images.dtype()));
    };
    const Tensor distorted_images = operation("image.sample", {{"images", boxed(images)},
                                                               {"rows", coordinates(1)},
                                                               {"columns", coordinates(2)},
                                                               {"interpolation", interpolation},
                                                               {"fill_mode", fill_mode_},
                                                               {"fill_value", fill_value_}});
    return ops::where(random_numbers[0], distorted_images, images);
  }

  Value scale_ = 1.0;
  std::string interpolation_ = "bilinear", fill_mode_ = "reflect";
  double fill_value_ = 0;
  Range strength_;
};

}  // namespace

CRESCENT_REGISTER(distortions) {
  registry.add<RandomPerspective>("RandomPerspective");
  registry.add<RandomElasticTransform>("RandomElasticTransform");
}

}  // namespace crescent
