// Random flips and crops of images.
#include "augmentation.h"
#include "crescent/registry/registration.h"
#include "ranges.h"

namespace crescent {
namespace {

class RandomFlip final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomFlip>& s) {
    s.doc("Mirrors each image with probability 0.5.")
        .field("mode", &RandomFlip::mode_,
               "\"horizontal\" (left and right), \"vertical\" (top and bottom), or "
               "\"horizontal_and_vertical\".")
        .choices({"horizontal", "vertical", "horizontal_and_vertical"});
    describe_seed(s);
    describe_data_format(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    return {ops::less_equal(random.uniform(per_image_shape(images)), 0.5)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    std::vector<int> axes;
    if (mode_ != "horizontal") axes.push_back(1);
    if (mode_ != "vertical") axes.push_back(2);
    return ops::where(random_numbers[0], ops::flip(images, axes), images);
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return change_images(masks, random_numbers);
  }
  Points change_points(const Points& points, const TensorSpec& images,
                       const RandomParameters& random_numbers) const override {
    const Tensor is_flipped = ops::reshape(random_numbers[0], {-1, 1});
    const auto mirrored_positions = [&](const Tensor& positions, int axis) {
      return ops::where(is_flipped, double(images.shape[axis]) - positions, positions);
    };
    return {mode_ == "vertical" ? points.x : mirrored_positions(points.x, 2),
            mode_ == "horizontal" ? points.y : mirrored_positions(points.y, 1)};
  }

 private:
  std::string mode_ = "horizontal_and_vertical";
};

/// Takes `count` rows (axis 1) or columns (axis 2), beginning with `first_index`.
Tensor take_rows_or_columns(const Tensor& images, int axis, const Tensor& first_index,
                            int64_t count) {
  return ops::gather(images, ops::arange(count) + first_index, axis);
}

class RandomCrop final : public ImageAugmentation {
 public:
  static void describe(Schema<RandomCrop>& s) {
    s.doc(
         "Crops images at a random position, the same for the batch. Smaller images are resized; "
         "in inference the largest centred part of the target's aspect ratio is resized.")
        .field("height", &RandomCrop::height_, "Height of the result.")
        .required()
        .min(1)
        .field("width", &RandomCrop::width_, "Width of the result.")
        .required()
        .min(1);
    describe_seed(s);
    describe_data_format(s);
  }
  RandomParameters draw(const TensorSpec& images, const SeedGenerator& random) const override {
    const int64_t excess_rows = images.shape[1] - height_,
                  excess_columns = images.shape[2] - width_;
    if (excess_rows <= 0 || excess_columns <= 0) return {};
    const auto draw_position = [&](int64_t max_position) {
      const Tensor drawn_position = random.uniform({}, 0, double(max_position + 1));
      return ops::minimum(ops::cast(drawn_position, DType::int32), max_position);
    };
    const Tensor top_row = draw_position(excess_rows);
    return {top_row, draw_position(excess_columns)};
  }
  Tensor change_images(const Tensor& images,
                       const RandomParameters& random_numbers) const override {
    return crop_images(images, random_numbers, "bilinear");
  }
  Tensor change_masks(const Tensor& masks, const RandomParameters& random_numbers) const override {
    return apply_as_floats(
        masks, [&](const Tensor& m) { return crop_images(m, random_numbers, "nearest"); });
  }
  Tensor inference_images(const Tensor& images) const override {
    return resize_images(images, "bilinear", true);
  }
  Tensor inference_masks(const Tensor& masks) const override {
    return apply_as_floats(masks,
                           [&](const Tensor& m) { return resize_images(m, "nearest", true); });
  }
  Points change_points(const Points& points, const TensorSpec& images,
                       const RandomParameters& random_numbers) const override {
    if (random_numbers.tensors.empty())
      return points_in_window(points, window_of_small(extent_of(images)));
    return {points.x - ops::cast(random_numbers[1], points.x.dtype()),
            points.y - ops::cast(random_numbers[0], points.y.dtype())};
  }
  Points inference_points(const Points& points, const TensorSpec& images) const override {
    const Extent extent = extent_of(images);
    if (extent == Extent{height_, width_}) return points;
    return points_in_window(points, centered_window(extent, fitting_extent(extent)));
  }

 private:
  /// The rectangle of the images that is cut out and becomes the result.
  struct CropWindow {
    int64_t top, left;
    Extent size;
  };
  static CropWindow centered_window(Extent image_extent, Extent size) {
    return {(image_extent.height - size.height) / 2, (image_extent.width - size.width) / 2, size};
  }
  /// The largest extent that fits into the images and has the proportions of the result.
  Extent fitting_extent(Extent image_extent) const {
    return {std::clamp<int64_t>(image_extent.width * height_ / width_, 1, image_extent.height),
            std::clamp<int64_t>(image_extent.height * width_ / height_, 1, image_extent.width)};
  }
  /// The window in images that are lower or narrower than the result.
  CropWindow window_of_small(Extent image_extent) const {
    CropWindow window = centered_window(image_extent, fitting_extent(image_extent));
    window.size = {std::min(height_, image_extent.height - window.top),
                   std::min(width_, image_extent.width - window.left)};
    return window;
  }
  Points points_in_window(const Points& points, const CropWindow& window) const {
    return shifted_points(points, -double(window.left), -double(window.top),
                          double(width_) / double(window.size.width),
                          double(height_) / double(window.size.height));
  }
  Tensor crop_images(const Tensor& images, const RandomParameters& random_numbers,
                     const std::string& interpolation) const {
    if (!random_numbers.tensors.empty())
      return take_rows_or_columns(take_rows_or_columns(images, 1, random_numbers[0], height_), 2,
                                  random_numbers[1], width_);
    const auto [top, left, size] = window_of_small(extent_of(images));
    const Tensor rows = ops::slice_axis(images, 1, top, top + size.height);
    return resize_images(ops::slice_axis(rows, 2, left, left + size.width), interpolation, false);
  }
  Tensor resize_images(const Tensor& images, const std::string& interpolation,
                       bool crops_to_aspect_ratio) const {
    // while shapes are inferred only the shape of the result matters
    if (images.dim(1) < 0 || images.dim(2) < 0)
      return ops::broadcast_to(ops::max(images, {1, 2}, true),
                               {images.dim(0), height_, width_, images.dim(3)});
    if (images.dim(1) == height_ && images.dim(2) == width_) return images;
    return operation("image.resize", {{"images", boxed(images)},
                                      {"size", List{height_, width_}},
                                      {"interpolation", interpolation},
                                      {"crop_to_aspect_ratio", crops_to_aspect_ratio}});
  }

  int64_t height_ = 1, width_ = 1;
};

}  // namespace

CRESCENT_REGISTER(crops) {
  registry.add<RandomFlip>("RandomFlip");
  registry.add<RandomCrop>("RandomCrop");
}

}  // namespace crescent
