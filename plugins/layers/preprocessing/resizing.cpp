// Images brought to a size: resized, or cut out of the middle.
#include "../resampling.h"
#include "../spatial.h"
#include "preprocessing_layers.h"

namespace crescent {
namespace {

struct Size {
  int64_t height, width;
};

/// The middle of images, channels last.
Tensor middle(const Tensor& images, Size size) {
  const int64_t top = (images.dim(1) - size.height) / 2, left = (images.dim(2) - size.width) / 2;
  const Tensor rows = ops::slice_axis(images, 1, top, top + size.height);
  return ops::slice_axis(rows, 2, left, left + size.width);
}

/// The largest part from the middle that has the shape of the target; or, where `around`, the
/// smallest frame around the images that has.
Size of_target_shape(const Tensor& images, Size target, bool around) {
  const int64_t height = images.dim(1), width = images.dim(2);
  const auto scaled = [](int64_t length, int64_t to, int64_t from) {
    return int64_t(double(length) * double(to) / double(from));
  };
  const int64_t fitting_height = scaled(width, target.height, target.width),
                fitting_width = scaled(height, target.width, target.height);
  if (around) return {std::max(height, fitting_height), std::max(width, fitting_width)};
  return {std::max<int64_t>(std::min(height, fitting_height), 1),
          std::max<int64_t>(std::min(width, fitting_width), 1)};
}

Tensor framed(const Tensor& images, Size size, double value) {
  const int64_t top = (size.height - images.dim(1)) / 2, left = (size.width - images.dim(2)) / 2;
  return ops::pad(images, {0, top, left, 0}, {0, top, left, 0}, value);
}

/// What layers that give images of one size share. A single image without a batch is taken, too.
class SizedLayer : public SpatialLayer<2> {
 public:
  void configured() override {
    SpatialLayer<2>::configured();
    InputSpec spec = InputSpec::with_min_ndim(3);
    spec.max_ndim = 4;
    set_input_specs({spec});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor values = ops::cast(x, compute_dtype());
    const bool single = x.rank() == 3;
    const Tensor y = with_channels_last(
        single ? ops::expand_dims(values, 0) : values, [&](const Tensor& images) {
          if (images.dim(1) >= 0 && images.dim(2) >= 0) return sized(images);
          return ops::broadcast_to(ops::max(images, {1, 2}, true),  // only its shape matters then
                                   {images.dim(0), height_, width_, images.dim(3)});
        });
    return single ? ops::squeeze(y, 0) : y;
  }

 protected:
  template <class T>
  static void describe_size(Schema<T>& s) {
    s.field("height", &SizedLayer::height_, "Rows of the result.")
        .required()
        .min(1)
        .field("width", &SizedLayer::width_, "Columns of the result.")
        .required()
        .min(1);
  }
  virtual Tensor sized(const Tensor& images) const = 0;
  Size size() const { return {height_, width_}; }

  int64_t height_ = 1, width_ = 1;
};

class Resizing final : public SizedLayer {
 public:
  static void describe(Schema<Resizing>& s) {
    s.doc("Images resized.");
    describe_size(s);
    s.field("interpolation", &Resizing::interpolation_, "How values between pixels are found.")
        .choices({"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"})
        .field("crop_to_aspect_ratio", &Resizing::crop_,
               "Cut out the largest part from the middle that has the shape of the result, first.")
        .field("pad_to_aspect_ratio", &Resizing::pad_,
               "Put a frame around that gives the shape of the result, first.")
        .field("fill_mode", &Resizing::fill_mode_, "What the frame is made of.")
        .choices({"constant"})
        .field("fill_value", &Resizing::fill_value_, "Of the frame.")
        .field("antialias", &Resizing::antialias_, "Smooth before making smaller.");
    describe_data_format(s);
  }
  void configured() override {
    SizedLayer::configured();
    if (crop_ && pad_)
      fail("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
  }

 protected:
  Tensor sized(const Tensor& images) const override {
    const Size shape = of_target_shape(images, size(), pad_);
    const Tensor source = crop_  ? middle(images, shape)
                          : pad_ ? framed(images, shape, fill_value_)
                                 : images;
    return resampled(source, height_, width_, interpolation_, antialias_);
  }

 private:
  std::string interpolation_ = "bilinear", fill_mode_ = "constant";
  bool crop_ = false, pad_ = false, antialias_ = false;
  double fill_value_ = 0;
};

class CenterCrop final : public SizedLayer {
 public:
  static void describe(Schema<CenterCrop>& s) {
    s.doc("The middle of images; smaller ones are resized, and the middle of that.");
    describe_size(s);
    describe_data_format(s);
  }

 protected:
  Tensor sized(const Tensor& images) const override {
    if (images.dim(1) >= height_ && images.dim(2) >= width_) return middle(images, size());
    const Tensor part = middle(images, of_target_shape(images, size(), false));
    return resampled(part, height_, width_, "bilinear", false);
  }
};

}  // namespace

void add_resizing(Registry& registry) {
  registry.add<Resizing>("Resizing");
  registry.add<CenterCrop>("CenterCrop");
}

}  // namespace crescent
