// Images at places between their pixels, with a kernel: gathering the neighbours one by one takes
// four times as long.
#include "crescent/device/cpu_kernel.h"
#include "crescent/registry/registration.h"
#include "image_sampler.h"

namespace crescent::operations {
namespace {

/// (images (batch, h, w, channels), rows and columns (batch, height, width)) -> (batch, height,
/// width, channels). A coordinate is a number of pixels.
struct SampleImages final : OpOf<SampleImages> {
  static constexpr const char* kName = "operations.sample_images";
  int64_t order = 1;
  Fill fill = Fill::constant;
  double fill_value = 0;
  auto fields() const { return std::tie(order, fill, fill_value); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& places = in[1].shape;
    return {{in[0].dtype, {in[0].shape[0], places[1], places[2], in[0].shape[3]}}};
  }
  Tensors decompose(std::span<const Tensor> in) const override {
    const int64_t batch = in[0].dim(0), h = in[0].dim(1), w = in[0].dim(2), c = in[0].dim(3);
    const Shape flat{batch, in[1].dim(1) * in[1].dim(2), 1};
    const Tensor result =
        sampled(ops::reshape(in[0], {batch, h * w, c}), {h, w},
                {ops::reshape(in[1], flat), ops::reshape(in[2], flat)}, order, fill, fill_value);
    return {ops::reshape(result, {batch, in[1].dim(1), in[1].dim(2), c})};
  }
};

class SampleImagesKernel final : public CpuKernel {
 public:
  static void describe(Schema<SampleImagesKernel>& s) {
    s.doc("Rows of the result, some a thread.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<SampleImages>();
    if (!op || r.outputs[0].dtype != DType::float32) return false;
    const Shape &images = r.inputs[0].shape, &result = r.outputs[0].shape;
    sampler_ = {op->order, op->fill,  static_cast<float>(op->fill_value),
                images[1], images[2], images[3]};
    batch_ = result[0], rows_ = result[1], columns_ = result[2];
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t c = sampler_.channels, size = sampler_.height * sampler_.width * c;
    const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(columns_ * c, 1));
    a.threads.blocks(batch_ * rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const float* image = a.in<float>(0) + line / rows_ * size;
        for (int64_t i = line * columns_; i < (line + 1) * columns_; ++i)
          sampler_(image, a.in<float>(1)[i], a.in<float>(2)[i], 0, c, a.out<float>(0) + i * c);
      }
    });
  }
  double flops() const override {
    return 8.0 * static_cast<double>(batch_ * rows_ * columns_ * sampler_.channels);
  }

 private:
  ImageSampler sampler_{};
  int64_t batch_ = 0, rows_ = 0, columns_ = 0;  ///< of the result
};

Tensor sample(const Tensor& images, const Tensor& rows, const Tensor& columns,
              const std::string& interpolation, const std::string& fill_mode, double fill_value) {
  if (images.rank() != 4 || images.dim(1) < 1 || images.dim(2) < 1 || images.dim(3) < 0)
    fail("image.sample: expected images (batch, height, width, channels), got shape ",
         images.shape());
  if (rows.rank() != 3 || rows.shape() != columns.shape() ||
      !rows.shape().slice(0, 1).compatible(images.shape().slice(0, 1)))
    fail("image.sample: expected rows and columns (batch, height, width) for images of shape ",
         images.shape(), ", got shapes ", rows.shape(), " and ", columns.shape());
  return ops::cast(sampled_images(floating(images), rows, columns, order_named(interpolation),
                                  fill_named(fill_mode), fill_value),
                   images.dtype());
}

}  // namespace

Tensor sampled_images(const Tensor& images, const Tensor& rows, const Tensor& columns,
                      int64_t order, Fill fill, double fill_value) {
  SampleImages op;
  op.order = order;
  op.fill = fill;
  op.fill_value = fill_value;
  return apply1(op, {images, ops::cast(rows, images.dtype()), ops::cast(columns, images.dtype())});
}

CRESCENT_REGISTER(sample_images) {
  registry.add<SampleImagesKernel>(SampleImages::kName);
  Operations(registry, "crescent.operations")
      .add("SampleImages",
           "image.sample(images, rows, columns, interpolation='bilinear', fill_mode='constant', "
           "fill_value=0.0)",
           &sample, "Images at places between their pixels: rows and columns (batch, h, w).");
}

}  // namespace crescent::operations
