// Affine and perspective transforms of images, by a kernel that computes the source coordinates of
// each pixel right before it reads the image there.
#include "crescent/device/cpu_kernel.h"
#include "crescent/registry/registration.h"
#include "image_sampler.h"

namespace crescent::operations {
namespace {

class ProjectImagesKernel final : public CpuKernel {
 public:
  static void describe(Schema<ProjectImagesKernel>& s) {
    s.doc("Runs on several threads, each with some rows of the images.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<ProjectImages>();
    if (!op || r.outputs[0].dtype != DType::float32) return false;
    const Shape& image_shape = r.inputs[0].shape;
    perspective_ = op->perspective, batch_size_ = image_shape[0];
    transform_count_ = r.inputs[1].shape[0];
    sampler_ = {op->order,      op->fill,       static_cast<float>(op->fill_value),
                image_shape[1], image_shape[2], image_shape[3]};
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t h = sampler_.height, w = sampler_.width, c = sampler_.channels;
    a.threads.blocks(batch_size_ * h, std::max<int64_t>(1, 2048 / std::max<int64_t>(w * c, 1)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t line = begin; line < end; ++line) {
                         const int64_t image = line / h;
                         show_row(a.in<float>(0) + image * h * w * c,
                                  a.in<float>(1) + (transform_count_ == 1 ? 0 : image * 8),
                                  line % h, a.out<float>(0) + line * w * c);
                       }
                     });
  }
  double flops() const override {
    return 8.0 *
           static_cast<double>(batch_size_ * sampler_.height * sampler_.width * sampler_.channels);
  }

 private:
  /// Computes row `line` of the result with the coefficients n of the transform.
  void show_row(const float* image, const float* n, int64_t line, float* to) const {
    const int64_t channels = sampler_.channels;
    const bool shifts_channels = !perspective_ && (n[6] != 0 || n[7] != 0);
    const auto y = static_cast<float>(line);
    for (int64_t i = 0; i < sampler_.width; ++i, to += channels) {
      const auto x = static_cast<float>(i);
      float from_x = n[0] * x + n[1] * y + n[2], from_y = n[3] * x + n[4] * y + n[5];
      if (perspective_) {
        const float scale = n[6] * x + n[7] * y + 1;
        from_x /= scale, from_y /= scale;
      }
      if (!shifts_channels) {
        sampler_(image, from_y, from_x, 0, channels, to);
        continue;
      }
      for (int64_t k = 0; k < channels; ++k) {
        const auto channel = static_cast<float>(k);
        sampler_(image, from_y + n[6] * channel, from_x + n[7] * channel, k, 1, to + k);
      }
    }
  }

  bool perspective_ = false;
  int64_t batch_size_ = 0, transform_count_ = 1;
  ImageSampler sampler_{};
};

}  // namespace

CRESCENT_REGISTER(project_images) { registry.add<ProjectImagesKernel>(ProjectImages::kName); }

}  // namespace crescent::operations
