// Generators of random calls (CallGenerator in draft.h) for functions that interpolate or compare
// images.
#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

constexpr int64_t kShortSides[] = {1, 2, 3, 4, 5, 7, 8, 12};
constexpr const char* kFillModes[] = {"constant", "nearest", "wrap", "mirror", "reflect"};
constexpr const char* kInterpolations[] = {"bilinear", "nearest", "bilinear"};

int scaled_by(Draft& d, int x, double factor) {
  return d.call("multiply", {{"x1", x}, {"x2", Value(factor)}});
}
int sum_with(Draft& d, int x, const Value& number) {
  return d.call("add", {{"x1", x}, {"x2", number}});
}

/// Images (batch, height, width, channels).
int image_batch(Draft& d, DType dtype) {
  constexpr int64_t kChannels[] = {1, 3, 2, 4, 5};
  const int64_t batch = 1 + d.choices.below(3), height = d.choices.one_of(kShortSides),
                width = d.choices.one_of(kShortSides), channels = d.choices.one_of(kChannels);
  return d.input({dtype, {batch, height, width, channels}});
}

/// Coordinates around the middle of an axis, some of them outside of the image.
int pixel_coordinates(Draft& d, const Shape& shape, DType dtype, int64_t n) {
  const int x = d.call("tanh", {{"x", d.input({dtype, shape})}});
  return sum_with(d, scaled_by(d, x, 0.73 * static_cast<double>(n)),
                  Value(0.49 * static_cast<double>(n)));
}

void add_fill_and_interpolation(Draft& d, std::vector<Argument>& arguments,
                                bool has_fill_mode = true) {
  arguments.push_back({"interpolation", Value(d.choices.one_of(kInterpolations))});
  if (has_fill_mode) arguments.push_back({"fill_mode", Value(d.choices.one_of(kFillModes))});
  if (d.choices.one_in(2)) arguments.push_back({"fill_value", Value(0.75)});
}

int sample_images(Draft& d) {
  const int x = image_batch(d, d.floating_dtype());
  const Shape image_shape = d.shape(x);
  const Shape shape{image_shape[0], d.choices.one_of(kShortSides), d.choices.one_of(kShortSides)};
  const int rows = pixel_coordinates(d, shape, d.dtype(x), image_shape[1]),
            columns = pixel_coordinates(d, shape, d.dtype(x), image_shape[2]);
  std::vector<Argument> arguments{{"images", x}, {"rows", rows}, {"columns", columns}};
  add_fill_and_interpolation(d, arguments);
  return d.call("image.sample", arguments);
}

int map_coordinates(Draft& d) {
  const int rank = 1 + static_cast<int>(d.choices.below(3));
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.append(d.choices.one_of(kShortSides));
  const int x = d.input({d.floating_dtype(), shape});
  const Shape output_shape{1 + d.choices.below(3), d.choices.one_of(kShortSides)};
  std::vector<int> axis_coordinates;
  for (int64_t n : shape)
    axis_coordinates.push_back(pixel_coordinates(d, output_shape, d.dtype(x), n));
  const int coordinates = d.call("stack", {{"x", axis_coordinates}, {"axis", Value(0)}});
  return d.call("image.map_coordinates", {{"inputs", x},
                                          {"coordinates", coordinates},
                                          {"order", Value(d.choices.below(2))},
                                          {"fill_mode", Value(d.choices.one_of(kFillModes))}});
}

/// Affine transforms near the identity: small rotations, shears and shifts, at random one per
/// image.
int affine_transform(Draft& d) {
  const int x = image_batch(d, d.floating_dtype());
  const int64_t count = d.choices.one_in(2) ? 1 : d.shape(x)[0];
  const int offsets =
      scaled_by(d, d.call("tanh", {{"x", d.input({d.dtype(x), {count, 8}})}}), 0.37);
  const double shear_option = d.choices.one_in(2) ? 0.5 : 0;
  const int scaled_offsets = d.call(
      "multiply",
      {{"x1", offsets}, {"x2", Value(List{1., 1., 3., 1., 1., 3., shear_option, shear_option})}});
  const int transform = sum_with(d, scaled_offsets, Value(List{1., 0., 0., 0., 1., 0., 0., 0.}));
  const int cast_transform =
      d.call("cast", {{"x", transform}, {"dtype", Value(name_of(d.dtype(x)))}});
  std::vector<Argument> arguments{{"images", x}, {"transform", cast_transform}};
  add_fill_and_interpolation(d, arguments);
  return d.call("image.affine_transform", arguments);
}

/// The corners of a square, each shifted a little.
int shifted_corners(Draft& d, int64_t batch, double side) {
  const int offsets =
      scaled_by(d, d.call("tanh", {{"x", d.input({DType::float32, {batch, 4, 2}})}}), 0.2 * side);
  const Value zero(0.0), side_value(side);
  return sum_with(d, offsets,
                  List{List{zero, zero}, List{side_value, zero}, List{zero, side_value},
                       List{side_value, side_value}});
}

int perspective_transform(Draft& d) {
  const int x = image_batch(d, DType::float32);
  const int64_t batch = d.choices.one_in(2) ? 1 : d.shape(x)[0];
  std::vector<Argument> arguments{{"images", x},
                                  {"start_points", shifted_corners(d, batch, 5)},
                                  {"end_points", shifted_corners(d, batch, 4)}};
  add_fill_and_interpolation(d, arguments, false);
  return d.call("image.perspective_transform", arguments);
}

int homography(Draft& d) {
  const int start = shifted_corners(d, 2, 2), end = shifted_corners(d, 2, 3);
  return d.call("image.homography", {{"start_points", start}, {"end_points", end}});
}

int scale_and_translate(Draft& d) {
  constexpr const char* kMethods[] = {"linear", "cubic", "lanczos3"};
  const int x = image_batch(d, d.floating_dtype());
  const Shape image = d.shape(x);
  const int64_t height = d.choices.one_of(kShortSides), width = d.choices.one_of(kShortSides);
  const TensorSpec pair_spec{d.dtype(x), {2}};
  const int scale =
      sum_with(d, scaled_by(d, d.call("tanh", {{"x", d.input(pair_spec)}}), 0.47), Value(1.23));
  const List shape{Value(image[0]), Value(height), Value(width), Value(image[3])};
  return d.call("image.scale_and_translate", {{"images", x},
                                              {"output_shape", Value(shape)},
                                              {"scale", scale},
                                              {"translation", d.input(pair_spec)},
                                              {"spatial_dims", Value(List{1, 2})},
                                              {"method", Value(d.choices.one_of(kMethods))},
                                              {"antialias", Value(d.choices.one_in(2))}});
}

/// Comparisons of images. 16-bit floats are left out, because differences of squares would lose all
/// digits.
int image_comparison(Draft& d, const char* function) {
  const DType dtype = d.choices.one_in(2) ? DType::float64 : DType::float32;
  const int x = image_batch(d, dtype), y = d.same_shape(x);
  if (std::string_view(function) == "psnr") {
    const int other_image = sum_with(d, d.call("abs", {{"x", y}}), Value(2.5));
    return d.call("psnr", {{"x1", x}, {"x2", other_image}, {"max_val", Value(2)}});
  }
  return d.call("image.ssim", {{"image1", x},
                               {"image2", y},
                               {"max_val", Value(4)},
                               {"filter_size", Value(1 + d.choices.below(4))}});
}

}  // namespace

std::vector<CallGenerator> sampling_generators() {
  return {{"image.sample", sample_images},
          {"image.map_coordinates", map_coordinates},
          {"image.affine_transform", affine_transform},
          {"image.perspective_transform", perspective_transform},
          {"image.homography", homography},
          {"image.scale_and_translate", scale_and_translate},
          {"image.ssim", [](Draft& d) { return image_comparison(d, "image.ssim"); }},
          {"psnr", [](Draft& d) { return image_comparison(d, "psnr"); }}};
}

}  // namespace crescent::random_programs
