#include "../resampling.h"
#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class UpSampling1D final : public SpatialLayer<1> {
 public:
  UpSampling1D() { carry_mask_ = true; }
  static void describe(Schema<UpSampling1D>& s) {
    s.doc("Repeats each step.")
        .field("size", &UpSampling1D::size_, "Number of repetitions.")
        .min(1);
    describe_carry_mask(s);
  }
  Tensor call(const Tensor& x, const Call&) override { return ops::repeat(x, size_, 1); }

 protected:
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    return mask.rank() == 2 ? ops::repeat(mask, size_, 1) : Tensor();
  }

 private:
  int64_t size_ = 2;
};

/// Repeats each element along every spatial axis; images can also be interpolated.
template <int Axes>
class UpSampling final : public SpatialLayer<Axes> {
 public:
  static void describe(Schema<UpSampling>& s) {
    s.doc("Enlarges the spatial axes by integer factors.")
        .field("size", &UpSampling::size_, "Factor for each axis.")
        .min(1)
        .max(1 << 20);
    UpSampling::describe_data_format(s);
    if (Axes == 2)
      s.field("interpolation", &UpSampling::interpolation_,
              "\"nearest\" repeats values, the others interpolate. \"bilinear_keras2\": as Keras "
              "2.3.1, aligned at the first pixels instead of the centres.")
          .choices({"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "bilinear_keras2"});
  }
  void configured() override {
    SpatialLayer<Axes>::configured();
    size_ = per_axis(size_, Axes, "size");
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (interpolation_ != "nearest")
      return this->with_channels_last(
          x, [&](const Tensor& images) { return interpolate_images(images); });
    return repeat_elements(x, this->first_spatial_axis());
  }

 private:
  Tensor repeat_elements(Tensor x, int first_axis) const {
    for (int i = 0; i < Axes; ++i) x = ops::repeat(x, size_[size_t(i)], first_axis + i);
    return x;
  }
  Tensor interpolate_images(const Tensor& images) const {
    const int64_t rows = images.dim(1), columns = images.dim(2);
    // while shapes are inferred only the shape of the result matters
    if (rows < 0 || columns < 0) return repeat_elements(images, 1);
    return resize_images_to(images, rows * size_[0], columns * size_[1], interpolation_, false);
  }

  std::vector<int64_t> size_ = std::vector<int64_t>(Axes, 2);
  std::string interpolation_ = "nearest";
};

}  // namespace

CRESCENT_REGISTER(upsampling) {
  registry.add<UpSampling1D>("UpSampling1D");
  registry.add<UpSampling<2>>("UpSampling2D");
  registry.add<UpSampling<3>>("UpSampling3D");
}

}  // namespace crescent
