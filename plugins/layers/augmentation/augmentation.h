// The base of layers that change images at random in training. Images are floating point or
// integers; results are floating point. Labels, boxes and masks are changed with the same random
// numbers.
#pragma once
#include "../image_layer.h"

namespace crescent {

/// The random numbers that an augmentation has drawn for a batch, together with those of nested
/// augmentations.
struct RandomParameters {
  RandomParameters() = default;
  RandomParameters(std::initializer_list<Tensor> numbers) : tensors(numbers) {}
  explicit RandomParameters(Tensors numbers) : tensors(std::move(numbers)) {}
  const Tensor& operator[](size_t i) const { return tensors[i]; }
  Tensors tensors;
  std::vector<RandomParameters> nested{};
};

class ImageAugmentation : public ImageLayer {
 public:
  void configured() override;

  // ---- functions for derived classes; images are (batch, height, width, channels) and floating
  // point
  /// Draws all random numbers that the other functions need for images of this spec.
  virtual RandomParameters draw(const TensorSpec& /*images*/,
                                const SeedGenerator& /*random*/) const {
    return {};
  }
  virtual Tensor change_images(const Tensor& images,
                               const RandomParameters& random_numbers) const = 0;
  /// Changes masks (batch, height, width, channels) of any dtype.
  virtual Tensor change_masks(const Tensor& masks,
                              const RandomParameters& /*random_numbers*/) const {
    return masks;
  }
  virtual Tensor change_labels(const Tensor& labels,
                               const RandomParameters& /*random_numbers*/) const {
    return labels;
  }
  /// Returns where points of the images are in the changed images.
  virtual Points change_points(const Points& points, const TensorSpec& /*images*/,
                               const RandomParameters& /*random_numbers*/) const {
    return points;
  }
  /// Changes boxes, given as xyxy in pixels; by default to the smallest boxes around their changed
  /// corners.
  virtual BoundingBoxes change_boxes(const BoundingBoxes& original, const TensorSpec& images,
                                     const RandomParameters& random_numbers) const;
  /// The next three functions change images, masks and points in inference, where no random numbers
  /// are drawn.
  virtual Tensor inference_images(const Tensor& images) const { return images; }
  virtual Tensor inference_masks(const Tensor& masks) const { return masks; }
  virtual Points inference_points(const Points& points, const TensorSpec& /*images*/) const {
    return points;
  }

 protected:
  ImageParts change_parts(ImageParts parts, const Call& call) final;

  /// Declares the inputs that may accompany images: labels, boxes, masks.
  template <class T>
  static void describe_call(Schema<T>& s) {
    s.argument("training", true,
               "Augment the images; the default when the layer is called by itself.");
    describe_companions(s);
  }
  template <class T>
  static void describe_seed(Schema<T>& s) {
    s.field("seed", &ImageAugmentation::seed_, "Seed of the random numbers.");
  }
  template <class T>
  static void describe_data_format(Schema<T>& s) {
    ImageLayer::describe_data_format(s);
    describe_call(s);
  }
  template <class T>
  static void describe_value_range(Schema<T>& s) {
    s.field("value_range", &ImageAugmentation::value_range_,
            "Smallest and largest value of the images.");
  }
  double lowest_value() const { return value_range_[0]; }
  /// Throws the error for a call with bounding boxes of a layer that cannot compute the changed
  /// boxes.
  [[noreturn]] void fail_with_boxes() const {
    fail(class_name(),
         " does not move bounding boxes; draw them as masks and give "
         "`segmentation_masks`");
  }
  double highest_value() const { return value_range_[1]; }
  Tensor clip_to_range(const Tensor& images) const {
    return ops::clip(images, lowest_value(), highest_value());
  }

  std::vector<double> value_range_ = {0, 255};

 private:
  std::optional<int64_t> seed_;
  std::optional<SeedGenerator> random_;
};

using AugmentationPtr = std::shared_ptr<ImageAugmentation>;
/// Makes an augmentation layer for use inside of another one, which draws the random numbers of
/// both.
inline AugmentationPtr augmentation(const char* name, const Dict& options) {
  return std::dynamic_pointer_cast<ImageAugmentation>(make<Layer>(name, options));
}

// ---- functions that several augmentation layers use

/// The shape of one number per image: (batch, 1, 1, 1).
inline Shape per_image_shape(const TensorSpec& images) { return {images.shape[0], 1, 1, 1}; }

/// Scales values from the range [low, high] to another range.
inline Tensor rescale_values(const Tensor& x, double low, double high, double to_low,
                             double to_high) {
  if (low == to_low && high == to_high) return x;
  return (x - low) / (high - low) * (to_high - to_low) + to_low;
}

}  // namespace crescent
