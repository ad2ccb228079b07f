// Samples images at given coordinates, in one kernel: gathering the neighbours by separate ops
// takes four times as long.
#include "crescent/device/cpu_kernel.h"
#include "crescent/registry/registration.h"
#include "image_sampler.h"

namespace crescent::operations {
namespace {

class SampleImagesKernel final : public CpuKernel {
 public:
  static void describe(Schema<SampleImagesKernel>& s) {
    s.doc("Runs on several threads, each with some rows of the result.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<SampleImages>();
    if (!op || r.outputs[0].dtype != DType::float32) return false;
    const Shape &images = r.inputs[0].shape, &result = r.outputs[0].shape;
    sampler_ = {op->order, op->fill,  static_cast<float>(op->fill_value),
                images[1], images[2], images[3]};
    batch_size_ = result[0], rows_ = result[1], columns_ = result[2];
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t c = sampler_.channels, image_size = sampler_.height * sampler_.width * c;
    const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(columns_ * c, 1));
    a.threads.blocks(batch_size_ * rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const float* image = a.in<float>(0) + line / rows_ * image_size;
        for (int64_t i = line * columns_; i < (line + 1) * columns_; ++i)
          sampler_(image, a.in<float>(1)[i], a.in<float>(2)[i], 0, c, a.out<float>(0) + i * c);
      }
    });
  }
  double flops() const override {
    return 8.0 * static_cast<double>(batch_size_ * rows_ * columns_ * sampler_.channels);
  }

 private:
  ImageSampler sampler_{};
  int64_t batch_size_ = 0, rows_ = 0, columns_ = 0;  ///< sizes of the result
};

}  // namespace

CRESCENT_REGISTER(sample_images) { registry.add<SampleImagesKernel>(SampleImages::kName); }

}  // namespace crescent::operations
