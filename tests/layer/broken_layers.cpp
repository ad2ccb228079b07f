#include "broken_layers.h"

#include <stdexcept>

#include "crescent/crescent.h"

namespace crescent {
namespace {

/// The base of faulty layers, whose outputs have the shape of their inputs; T is the layer with the
/// fault.
template <class T>
struct FaultyLayer : UnaryLayer {
  static void describe(Schema<T>& s) { s.doc("Wrong in one way."); }
};

/// A correct layer that multiplies by its weights, for comparison.
struct CorrectLayer final : FaultyLayer<CorrectLayer> {
  static void describe(Schema<CorrectLayer>& s) {
    s.doc("Right.").field("power", &CorrectLayer::power_, "Of the weights.");
  }
  void build(const Shape& x) override { w_ = add_weight("w", {x[-1]}, "ones"); }
  Tensor call(const Tensor& x, const Call&) override { return x * ops::power(w_, power_); }
  double power_ = 2;
  Variable w_;
};

/// The op a * b, whose gradient with respect to b is 1.5 times too large.
struct Product final : OpOf<Product> {
  static constexpr const char* kName = "broken_product";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {in[0] * in[1]}; }
  Tensors vjp(const Vjp& v) const override {
    return {v.gradients[0] * v.inputs[1], v.gradients[0] * v.inputs[0] * 1.5};
  }
};

struct WrongGradient final : FaultyLayer<WrongGradient> {
  void build(const Shape& x) override {
    a_ = add_weight("a", {x[-1]}, "ones"), b_ = add_weight("b", {x[-1]}, "ones");
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor y = x * a_;
    return apply1(Product(), {y, ops::broadcast_to(b_, y.shape())});
  }
  Variable a_, b_;
};

struct NeverTrains final : FaultyLayer<NeverTrains> {
  void build(const Shape& x) override { w_ = add_weight("w", {x[-1]}, "ones"); }
  Tensor call(const Tensor& x, const Call&) override { return x * ops::stop_gradient(w_); }
  Variable w_;
};

struct WrongShape final : FaultyLayer<WrongShape> {
  std::vector<Shape> compute_output_shape(const std::vector<Shape>& in) override { return in; }
  Tensor call(const Tensor& x, const Call&) override { return ops::concatenate(Tensors{x, x}, -1); }
};

struct ForgetsOption final : FaultyLayer<ForgetsOption> {
  static void describe(Schema<ForgetsOption>& s) {
    s.doc("Forgets.").field("factor", &ForgetsOption::factor_, "Of all numbers.");
  }
  Dict get_config() const override {
    Dict config = UnaryLayer::get_config();
    config.erase("factor");
    return config;
  }
  Tensor call(const Tensor& x, const Call&) override { return x * factor_; }
  double factor_ = 1;
};

/// A layer whose state is not registered as a weight.
struct LosesState final : FaultyLayer<LosesState> {
  Tensor call(const Tensor& x, const Call& call) override {
    if (call.training) training_calls_.assign(training_calls_.value() + 1.0);
    return x + training_calls_.value();
  }
  Variable training_calls_{Tensor::scalar(0)};
};

struct IsRandom final : FaultyLayer<IsRandom> {
  Tensor call(const Tensor& x, const Call&) override {
    return x + global_random().uniform({x.dim(-1)});
  }
};

struct NanAtZero final : FaultyLayer<NanAtZero> {
  Tensor call(const Tensor& x, const Call&) override {
    return x / ops::sqrt(ops::sum(x * x, {-1}, true));
  }
};

/// A layer that reads the first sample, which an empty batch does not have.
struct NeedsSample final : FaultyLayer<NeedsSample> {
  Tensor call(const Tensor& x, const Call&) override { return x + ops::slice(x, {0, 0}, {1, -1}); }
};

struct OneBatchSize final : FaultyLayer<OneBatchSize> {
  Tensor call(const Tensor& x, const Call&) override {
    return x.is_abstract() ? x : x + ops::zeros({3, x.dim(-1)});
  }
};

struct MoreWeights final : FaultyLayer<MoreWeights> {
  Tensor call(const Tensor& x, const Call&) override {
    return x * add_weight("w", {x.dim(-1)}, "ones");
  }
};

struct AlwaysFloat32 final : FaultyLayer<AlwaysFloat32> {
  Tensor call(const Tensor& x, const Call&) override { return ops::cast(x, DType::float32) * 2.0; }
};

struct OverflowsHalf final : FaultyLayer<OverflowsHalf> {
  Tensor call(const Tensor& x, const Call&) override { return x * 3e4 * 4.0 / 1e5; }
};

struct CountsCalls final : FaultyLayer<CountsCalls> {
  Tensor call(const Tensor& x, const Call&) override {
    return x * (x.is_abstract() ? 2.0 : 1.0);  // the compiled result differs from the eager one
  }
};

struct WrongMask final : FaultyLayer<WrongMask> {
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& x, const Call& call) override { return call.mask() ? x * 2.0 : x; }
};

struct ThrowsOnWrong final : FaultyLayer<ThrowsOnWrong> {
  Tensor call(const Tensor& x, const Call&) override {
    if (x.rank() > 3) throw std::out_of_range("rank");
    return x;
  }
};

template <class T>
void add(const char* name) {
  if (!registry().find(Layer::kKind, name)) registry().add<T>(name);
}

}  // namespace

const std::vector<BrokenLayer>& broken_layers() {
  static const std::vector<BrokenLayer> rows{
      {"WrongGradient", "gradient by b", "the gradient is"},
      {"NeverTrains", "gradient by w", "there is no gradient"},
      {"WrongShape", "shapes", "compute_output_shape says"},
      {"ForgetsOption", "options", "get_config has no 'factor'"},
      {"LosesState", "repeated calls", "a second call in training"},
      {"IsRandom", "repeated calls", "a second call at inference"},
      {"NanAtZero", "zeros", "nan"},
      {"NeedsSample", "batch of 0", "slice"},
      {"OneBatchSize", "batch of 257", "257"},
      {"MoreWeights", "weights", "build makes 0 weights, the first call 1"},
      {"AlwaysFloat32", "float64", "is float32, expected float64"},
      {"OverflowsHalf", "mixed_float16", "has nan where"},
      {"CountsCalls", "compiled", "compiled, at inference, beside op by op"},
      {"WrongMask", "masks", "a mask that is true everywhere"},
      {"ThrowsOnWrong", "malformed inputs", "raises no message of the layer"}};
  add<CorrectLayer>("Right"), add<WrongGradient>("WrongGradient"), add<NeverTrains>("NeverTrains");
  add<WrongShape>("WrongShape"), add<ForgetsOption>("ForgetsOption");
  add<LosesState>("LosesState"), add<IsRandom>("IsRandom"), add<NanAtZero>("NanAtZero");
  add<NeedsSample>("NeedsSample"), add<OneBatchSize>("OneBatchSize");
  add<MoreWeights>("MoreWeights"), add<AlwaysFloat32>("AlwaysFloat32");
  add<OverflowsHalf>("OverflowsHalf"), add<CountsCalls>("CountsCalls");
  add<WrongMask>("WrongMask"), add<ThrowsOnWrong>("ThrowsOnWrong");
  return rows;
}

}  // namespace crescent
