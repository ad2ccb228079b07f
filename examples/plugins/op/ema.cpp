#include "crescent/device/cpu_kernel.h"
#include "crescent/plugin.h"

/// The moving average of each row: y[t] = decay y[t-1] + (1 - decay) x[t]. With `reverse` it runs
/// from the last element to the first. The kernel computes float32; other dtypes are computed by
/// decompose(), as a product with the matrix of the weights (1 - decay) decay^(t - s).
struct Ema final : crescent::OpOf<Ema> {
  static constexpr const char* kName = "acme.ema";
  double decay;
  bool reverse;
  explicit Ema(double d = 0.9, bool r = false) : decay(d), reverse(r) {}
  auto fields() const { return std::tie(decay, reverse); }
  crescent::TensorSpecs infer(std::span<const crescent::TensorSpec> in) const override {
    if (in[0].shape.rank() != 2 || !crescent::is_floating(in[0].dtype))
      crescent::fail("ema: expected floating-point numbers of shape (batch, time), got ", in[0]);
    return {in[0]};
  }
  crescent::Tensors decompose(std::span<const crescent::Tensor> in) const override {
    namespace ops = crescent::ops;
    const crescent::Tensor t = ops::arange(in[0].dim(1), crescent::DType::float64);
    crescent::Tensor age = ops::expand_dims(t, 0) - ops::expand_dims(t, 1);
    if (reverse) age = -age;
    const crescent::Tensor weights =
        ops::where(ops::less(age, 0.0), ops::zeros_like(age), ops::power(decay, age) * (1 - decay));
    return {ops::matmul(in[0], ops::cast(weights, in[0].dtype()))};
  }
  crescent::Tensors vjp(const crescent::Vjp& v) const override {
    return {crescent::apply1(Ema(decay, !reverse), {v.gradients[0]})};
  }
};

class EmaKernel final : public crescent::CpuKernel {
 public:
  static void describe(crescent::Schema<EmaKernel>& s) {
    s.doc("Moving averages, some rows a thread.");
  }
  bool prepare(const crescent::CpuRequest& request) override {
    const auto* op = request.op_as<Ema>();
    if (!op || request.inputs[0].dtype != crescent::DType::float32) return false;
    op_ = *op, row_count_ = request.inputs[0].shape[0], step_count_ = request.inputs[0].shape[1];
    return true;
  }
  void run(const crescent::CpuArguments& arguments) override {
    const auto decay = static_cast<float>(op_.decay);
    arguments.threads.blocks(row_count_, 8, [&](int64_t begin, int64_t end) {
      float average = 0;
      for (int64_t i = begin * step_count_; i < end * step_count_; ++i) {
        const int64_t t = i % step_count_, index = op_.reverse ? i - t + step_count_ - 1 - t : i;
        average = (t > 0 ? decay * average : 0) + (1 - decay) * arguments.in<float>(0)[index];
        arguments.out<float>(0)[index] = average;
      }
    });
  }

 private:
  Ema op_;
  int64_t row_count_ = 0, step_count_ = 0;
};

struct EmaLayer final : crescent::UnaryLayer {
  static void describe(crescent::Schema<EmaLayer>& s) {
    s.doc("Moving averages.").field("decay", &EmaLayer::decay, "What of the average stays.");
  }
  crescent::Tensor call(const crescent::Tensor& x, const crescent::Call&) override {
    return crescent::apply1(Ema(decay), {x});
  }
  double decay = 0.9;
};

CRESCENT_PLUGIN("acme.ema", "1.0.0") {
  registry.add<EmaKernel>("acme.ema");
  registry.add<EmaLayer>("Ema");
}
