// Images at places between their pixels, with a kernel: gathering the neighbours one by one takes
// four times as long.
#include <algorithm>

#include "../sampling.h"
#include "crescent/cpu_kernel.h"

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

/// i modulo n, not below 0.
int64_t wrapped(int64_t i, int64_t n) { return ((i % n) + n) % n; }

/// The element along an axis of n that place i stands for; -1: none.
int64_t placed(int64_t i, int64_t n, Fill fill) {
  if (i >= 0 && i < n) return i;
  switch (fill) {
    case Fill::constant:
      return -1;
    case Fill::nearest:
      return std::clamp<int64_t>(i, 0, n - 1);
    case Fill::wrap:
      return wrapped(i, n);
    case Fill::mirror: {
      if (n == 1) return 0;
      const int64_t at = wrapped(i, 2 * (n - 1));
      return std::min(at, 2 * (n - 1) - at);
    }
    case Fill::reflect: {
      const int64_t at = wrapped(i, 2 * n);
      return std::min(at, 2 * n - 1 - at);
    }
  }
  return -1;
}

/// Whole places at or below a coordinate, which far ones (and NaN) do not overflow.
int64_t floor_of(float x) {
  constexpr float kFar = 1e9F;
  const float bounded = x > -kFar ? std::min(x, kFar) : -kFar;
  const auto whole = static_cast<int64_t>(bounded);
  return whole - (static_cast<float>(whole) > bounded ? 1 : 0);
}

/// Half to even.
int64_t rounded(float x) {
  const int64_t below = floor_of(x);
  const float rest = x - static_cast<float>(below);
  return rest > 0.5F || (rest == 0.5F && below % 2 != 0) ? below + 1 : below;
}

class SampleImagesKernel final : public CpuKernel {
 public:
  static void describe(Schema<SampleImagesKernel>& s) {
    s.doc("Rows of the result, some a thread.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<SampleImages>();
    if (!op || r.outputs[0].dtype != DType::float32) return false;
    op_ = *op;
    const Shape &images = r.inputs[0].shape, &result = r.outputs[0].shape;
    height_ = images[1], width_ = images[2], channels_ = images[3];
    batch_ = result[0], rows_ = result[1], columns_ = result[2];
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(columns_ * channels_, 1));
    a.threads.blocks(batch_ * rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const float* image = a.in<float>(0) + line / rows_ * height_ * width_ * channels_;
        for (int64_t i = line * columns_; i < (line + 1) * columns_; ++i) {
          float* to = a.out<float>(0) + i * channels_;
          const float row = a.in<float>(1)[i], column = a.in<float>(2)[i];
          op_.order == 0 ? nearest(image, row, column, to) : between(image, row, column, to);
        }
      }
    });
  }
  double flops() const override {
    return 8.0 * static_cast<double>(batch_ * rows_ * columns_ * channels_);
  }

 private:
  /// The pixel at a place; null beyond the edges.
  const float* pixel(const float* image, int64_t row, int64_t column) const {
    const int64_t y = placed(row, height_, op_.fill), x = placed(column, width_, op_.fill);
    return y < 0 || x < 0 ? nullptr : image + (y * width_ + x) * channels_;
  }
  void nearest(const float* image, float row, float column, float* to) const {
    const float* from = pixel(image, rounded(row), rounded(column));
    const auto fill = static_cast<float>(op_.fill_value);
    for (int64_t c = 0; c < channels_; ++c) to[c] = from ? from[c] : fill;
  }
  void between(const float* image, float row, float column, float* to) const {
    const int64_t y = floor_of(row), x = floor_of(column);
    const float down = row - static_cast<float>(y), right = column - static_cast<float>(x);
    const float weights[] = {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right),
                             down * right};
    if (y >= 0 && x >= 0 && y + 1 < height_ && x + 1 < width_) {
      const float *above = image + (y * width_ + x) * channels_,
                  *below = above + width_ * channels_;
      for (int64_t c = 0; c < channels_; ++c)
        to[c] = above[c] * weights[0] + above[c + channels_] * weights[1] + below[c] * weights[2] +
                below[c + channels_] * weights[3];
      return;
    }
    const float* from[] = {pixel(image, y, x), pixel(image, y, x + 1), pixel(image, y + 1, x),
                           pixel(image, y + 1, x + 1)};
    const auto fill = static_cast<float>(op_.fill_value);
    for (int64_t c = 0; c < channels_; ++c) {
      float sum = 0;
      for (int corner = 0; corner < 4; ++corner)
        sum += (from[corner] ? from[corner][c] : fill) * weights[corner];
      to[c] = sum;
    }
  }

  SampleImages op_;
  int64_t height_ = 0, width_ = 0, channels_ = 0;  ///< of the images
  int64_t batch_ = 0, rows_ = 0, columns_ = 0;     ///< of the result
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

void add_sample_images(Registry& registry) {
  registry.add<SampleImagesKernel>(SampleImages::kName);
  Operations(registry, "crescent.operations")
      .add("SampleImages",
           "image.sample(images, rows, columns, interpolation='bilinear', fill_mode='constant', "
           "fill_value=0.0)",
           &sample, "Images at places between their pixels: rows and columns (batch, h, w).");
}

}  // namespace crescent::operations
