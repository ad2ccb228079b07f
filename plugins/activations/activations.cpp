// The table of activation functions: their names in Keras 3 and their formulas. Functions with
// options are in with_options.cpp.
#include "../elementwise.h"
#include "crescent/layer/activation.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

using namespace ops;
using Function = Tensor (*)(const Tensor&);

Tensor hard_sigmoid(const Tensor& x) { return hard_tanh(x / 6.0 + 0.5, 0, 1); }

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

struct ActivationSpec {
  const char* name;
  const char* doc;
  Function apply;
  std::vector<std::string> aliases{};
};

const ActivationSpec kActivations[] = {
    {"linear", "x", [](const Tensor& x) { return x; }},
    {"sigmoid", "1 / (1 + exp(-x))", [](const Tensor& x) { return sigmoid(x); }},
    {"tanh", "The hyperbolic tangent.", [](const Tensor& x) { return tanh(x); }},
    {"selu", "Scaled elu, which keeps mean 0 and variance 1 in deep networks.",
     [](const Tensor& x) { return kSeluScale * elu(x, kSeluAlpha); }},
    {"softplus", "log(1 + exp(x))", [](const Tensor& x) { return softplus(x); }},
    {"softsign", "x / (1 + |x|)", [](const Tensor& x) { return x / (abs(x) + 1.0); }},
    {"exponential", "exp(x)", [](const Tensor& x) { return exp(x); }, {"exp"}},
    {"silu",
     "x * sigmoid(x), element by element.",
     [](const Tensor& x) { return silu(x); },
     {"swish"}},
    {"mish", "x * tanh(softplus(x))", [](const Tensor& x) { return x * tanh(softplus(x)); }},
    {"relu6", "min(max(x, 0), 6)", [](const Tensor& x) { return hard_tanh(x, 0, 6); }},
    {"hard_sigmoid", "clip(x / 6 + 0.5, 0, 1)", hard_sigmoid},
    {"hard_sigmoid_keras2", "clip(0.2 x + 0.5, 0, 1): hard_sigmoid of Keras 2.",
     [](const Tensor& x) { return clip(x * 0.2 + 0.5, 0, 1); }},
    {"hard_silu",
     "x * hard_sigmoid(x)",
     [](const Tensor& x) { return x * hard_sigmoid(x); },
     {"hard_swish"}},
    {"hard_tanh", "clip(x, -1, 1)", [](const Tensor& x) { return hard_tanh(x, -1, 1); }},
    {"tanh_shrink", "x - tanh(x)", [](const Tensor& x) { return x - tanh(x); }},
    {"log_sigmoid", "log(sigmoid(x))", [](const Tensor& x) { return -softplus(-x); }},
    {"sparse_plus", "0 for x <= -1, (x + 1)^2 / 4 between, x for x >= 1.",
     [](const Tensor& x) {
       return where(less_equal(x, -1), 0, where(less(x, 1), 0.25 * square(x + 1.0), x));
     }},
    {"sparse_sigmoid", "clip((x + 1) / 2, 0, 1)",
     [](const Tensor& x) { return hard_tanh((x + 1.0) * 0.5, 0, 1); }},
};

class NamedActivation final : public Activation {
 public:
  explicit NamedActivation(Function apply) : apply_(apply) {}
  Tensor operator()(const Tensor& x) const override { return apply_(x); }
  Dict get_config() const override { return {}; }

 private:
  Function apply_;
};

class NamedActivationFactory final : public Factory {
 public:
  NamedActivationFactory(const SchemaData& schema, Function apply)
      : schema_(schema), apply_(apply) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    auto activation = std::make_shared<NamedActivation>(apply_);
    schema_.configure(activation.get(), options);
    return activation;
  }

 private:
  SchemaData schema_;
  Function apply_;
};

}  // namespace

CRESCENT_REGISTER(activations) {
  for (const ActivationSpec& spec : kActivations) {
    ClassInfo info;
    info.kind = Activation::kKind;
    info.name = spec.name;
    info.aliases = spec.aliases;
    info.schema.title = spec.name;
    info.schema.description = spec.doc;
    info.schema.traits.set(kElementwise, true);
    info.factory = std::make_shared<NamedActivationFactory>(info.schema, spec.apply);
    registry.add(std::move(info));
  }
}

}  // namespace crescent
