// Affine transformations of images: the pixel at (x, y) in the result is the pixel at (a0 x + a1 y
// + a2, b0 x + b1 y + b2) in the image.
#include <numbers>

#include "augmentation.h"
#include "crescent/registry/registration.h"
#include "ranges.h"

namespace crescent {
namespace {

/// The coefficients a0, a1, a2, b0, b1, b2 for each image, as tensors (batch, 1, 1).
using Affine = Tensors;

class AffineAugmentation : public ImageAugmentation {
 public:
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const final {
    return RandomParameters(affine(images, random, {images.shape[0], 1, 1}));
  }
  Tensor change_images(const Tensor& images, const RandomParameters& random_numbers) const final {
    return transform_images(images, random_numbers.tensors, interpolation_);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const final {
    return apply_as_floats(masks, [&](const Tensor& m) {
      return transform_images(m, random_numbers.tensors, "nearest");
    });
  }
  /// Moves points by the inverse of the transformation, which maps positions in the result to
  /// positions in the image.
  Points change_points(const Points& points, const TensorSpec&,
                       const RandomParameters& random_numbers) const final {
    const auto coefficient = [&](size_t i) { return ops::reshape(random_numbers[i], {-1, 1}); };
    const Tensor x = points.x - coefficient(2), y = points.y - coefficient(5);
    const Tensor determinant = coefficient(0) * coefficient(4) - coefficient(1) * coefficient(3);
    return {(coefficient(4) * x - coefficient(1) * y) / determinant,
            (coefficient(0) * y - coefficient(3) * x) / determinant};
  }

 protected:
  virtual Affine affine(const TensorSpec& images, const SeedGenerator& random,
                        const Shape& parameter_shape) const = 0;
  template <class T>
  static void describe_fill_mode(Schema<T>& s) {
    s.field("fill_mode", &AffineAugmentation::fill_mode_,
            "How points outside the image are filled.")
        .choices({"reflect", "wrap", "constant", "nearest"});
  }
  template <class T>
  static void describe_interpolation(Schema<T>& s) {
    s.field("interpolation", &AffineAugmentation::interpolation_,
            "How values between pixels are computed.")
        .choices({"nearest", "bilinear"});
  }
  template <class T>
  static void describe_fill_value(Schema<T>& s) {
    s.field("fill_value", &AffineAugmentation::fill_value_,
            "Value of points outside the image with fill_mode \"constant\".");
  }
  template <class T>
  static void describe_filling(Schema<T>& s) {
    describe_fill_mode(s);
    describe_interpolation(s);
    describe_seed(s);
    describe_fill_value(s);
    describe_data_format(s);
  }

 private:
  Tensor transform_images(const Tensor& images, const Affine& coefficients,
                          const std::string& interpolation) const {
    const int64_t height = images.dim(1), width = images.dim(2);
    const Tensor x = ops::reshape(ops::arange(width, images.dtype()), {1, 1, width}),
                 y = ops::reshape(ops::arange(height, images.dtype()), {1, height, 1});
    const auto source_positions = [&](size_t first_coefficient) {
      const auto coefficient = [&](size_t i) {
        return ops::cast(coefficients[first_coefficient + i], images.dtype());
      };
      return ops::broadcast_to(coefficient(0) * x + coefficient(1) * y + coefficient(2),
                               {images.dim(0), height, width});
    };
    return operation("image.sample", {{"images", boxed(images)},
                                      {"rows", boxed(source_positions(3))},
                                      {"columns", boxed(source_positions(0))},
                                      {"interpolation", interpolation},
                                      {"fill_mode", fill_mode_},
                                      {"fill_value", fill_value_}});
  }

  std::string fill_mode_ = "reflect", interpolation_ = "bilinear";
  double fill_value_ = 0;
};

class RandomTranslation final : public AffineAugmentation {
 public:
  static void describe(Schema<RandomTranslation>& s) {
    s.doc("Translates each image by a random fraction of its size.")
        .field("height_factor", &RandomTranslation::height_factor_,
               "Downward shift as a fraction of the height: two numbers as limits, or one number f "
               "for -f to f.")
        .required()
        .field("width_factor", &RandomTranslation::width_factor_,
               "Shift to the right as a fraction of the width.")
        .required();
    describe_filling(s);
  }
  void configured() override {
    AffineAugmentation::configured();
    height_range_ = range_within("height_factor", height_factor_, {-1, 1});
    width_range_ = range_within("width_factor", width_factor_, {-1, 1});
  }

 protected:
  Affine affine(const TensorSpec& images, const SeedGenerator& random,
                const Shape& parameter_shape) const override {
    const Tensor y_shift = height_range_.draw(random, parameter_shape, images.dtype,
                                              double(images.shape[1])),
                 x_shift = width_range_.draw(random, parameter_shape, images.dtype,
                                             double(images.shape[2]));
    const Tensor one = ops::ones_like(y_shift), zero = ops::zeros_like(y_shift);
    return {one, zero, -x_shift, zero, one, -y_shift};
  }

 private:
  Value height_factor_, width_factor_;
  Range height_range_, width_range_;
};

class RandomRotation final : public AffineAugmentation {
 public:
  static void describe(Schema<RandomRotation>& s) {
    s.doc("Rotates each image around its centre by a random angle.")
        .field("factor", &RandomRotation::factor_,
               "Angle as a fraction of a full turn: two numbers as limits, or one number f for -f "
               "to f.")
        .required();
    describe_filling(s);
  }
  void configured() override {
    AffineAugmentation::configured();
    range_ = range_of("factor", factor_, {-1, 1});
  }

 protected:
  Affine affine(const TensorSpec& images, const SeedGenerator& random,
                const Shape& parameter_shape) const override {
    const Tensor angle = range_.draw(random, parameter_shape, images.dtype, 2 * std::numbers::pi);
    const Tensor cos = ops::cos(angle), sin = ops::sin(angle);
    const double center_x = double(images.shape[2] - 1) / 2,
                 center_y = double(images.shape[1] - 1) / 2;
    return {cos, -sin, center_x - cos * center_x + sin * center_y,
            sin, cos,  center_y - sin * center_x - cos * center_y};
  }

 private:
  Value factor_;
  Range range_;
};

class RandomZoom final : public AffineAugmentation {
 public:
  static void describe(Schema<RandomZoom>& s) {
    s.doc("Zooms each image around its centre by a random factor.")
        .field("height_factor", &RandomZoom::height_factor_,
               "Change of the visible height: two numbers as limits, or one number f for -f to f. "
               "Positive values zoom out, negative ones zoom in.")
        .required()
        .field("width_factor", &RandomZoom::width_factor_,
               "Change of the visible width; null: as the height, keeping the aspect ratio.");
    describe_filling(s);
  }
  void configured() override {
    AffineAugmentation::configured();
    height_range_ = range_within("height_factor", height_factor_, {-1, 1, true});
    if (!width_factor_.is_null())
      width_range_ = range_within("width_factor", width_factor_, {-1, 1, true});
  }

 protected:
  Affine affine(const TensorSpec& images, const SeedGenerator& random,
                const Shape& parameter_shape) const override {
    const Tensor y_scale = height_range_.draw(random, parameter_shape, images.dtype) + 1;
    const Tensor x_scale = width_factor_.is_null()
                               ? y_scale
                               : width_range_.draw(random, parameter_shape, images.dtype) + 1;
    const double center_x = double(images.shape[2] - 1) / 2,
                 center_y = double(images.shape[1] - 1) / 2;
    const Tensor zero = ops::zeros_like(y_scale);
    return {x_scale, zero, (1.0 - x_scale) * center_x, zero, y_scale, (1.0 - y_scale) * center_y};
  }

 private:
  Value height_factor_, width_factor_;
  Range height_range_, width_range_;
};

/// The range that an option gives; a number f means the range from -f to f. Keras saves a number as
/// the pair of -f and f, which Keras itself cannot read; here the pair is read as the number.
Range shear_range(const char* option, Value& value) {
  if (value.is_list() && value.as_list().size() == 2 && value.as_list()[1].is_number() &&
      value.as_list()[0] == Value(-value.as_list()[1].as_float()))
    value = value.as_list()[1];
  const Range range = range_within(option, value, {0, 1});
  return value.is_number() ? Range{-range.high, range.high} : range;
}

class RandomShear final : public AffineAugmentation {
 public:
  static void describe(Schema<RandomShear>& s) {
    s.doc("Shears each image by a random amount in either direction.")
        .field("x_factor", &RandomShear::x_factor_,
               "Horizontal shift per row: two numbers as limits, or one number f for -f to f.")
        .field("y_factor", &RandomShear::y_factor_, "Vertical shift per column.");
    describe_interpolation(s);
    describe_fill_mode(s);
    describe_fill_value(s);
    describe_data_format(s);
    describe_seed(s);
  }
  void configured() override {
    AffineAugmentation::configured();
    x_range_ = shear_range("x_factor", x_factor_);
    y_range_ = shear_range("y_factor", y_factor_);
  }

 protected:
  Affine affine(const TensorSpec& images, const SeedGenerator& random,
                const Shape& parameter_shape) const override {
    const Tensor sign =
        ops::where(ops::greater(random.uniform(parameter_shape, 0, 1, images.dtype), 0.5), -1.0,
                   ops::ones(parameter_shape, images.dtype));
    const Tensor y = y_range_.draw(random, parameter_shape, images.dtype) * sign,
                 x = x_range_.draw(random, parameter_shape, images.dtype) * sign;
    const Tensor one = ops::ones_like(x), zero = ops::zeros_like(x);
    return {one, x, zero, y, one, zero};
  }

 private:
  Value x_factor_ = 0.0, y_factor_ = 0.0;
  Range x_range_, y_range_;
};

}  // namespace

CRESCENT_REGISTER(affine) {
  registry.add<RandomTranslation>("RandomTranslation");
  registry.add<RandomRotation>("RandomRotation");
  registry.add<RandomZoom>("RandomZoom");
  registry.add<RandomShear>("RandomShear");
}

}  // namespace crescent
