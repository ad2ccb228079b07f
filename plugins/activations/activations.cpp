// Activation functions by their Keras 3 names: a row each, the formula beside the name.
#include <cmath>

#include "crescent/plugin.h"

namespace crescent {
namespace {

using namespace ops;
using Function = Tensor (*)(const Tensor&);

/// Moves x's values beyond +-`edge` towards zero by it and zeroes the rest.
Tensor soft_shrink(const Tensor& x, double edge) { return x - clip(x, -edge, edge); }

/// Projection of each row onto the simplex as Keras 3 computes it: the threshold comes from the sum
/// of the running sums over the support, where Martins and Astudillo (2016) take the last of them.
Tensor sparsemax(const Tensor& x) {
  const int64_t n = x.dim(-1);
  const Tensor sorted = top_k(x, n)[0], total = cumsum(sorted, -1);
  const Tensor rank = cast(arange(n), x.dtype()) + 1.0;
  const Tensor inside = greater(sorted - (total - 1.0) / rank, 0);
  const Tensor support = sum(cast(inside, x.dtype()), {-1}, true);
  const Tensor threshold = (sum(where(inside, total, 0), {-1}, true) - 1.0) / support;
  return relu(x - threshold);
}

/// Halves along the last axis: first * sigmoid(second).
Tensor glu(const Tensor& x) {
  const int64_t half = x.dim(-1) / 2;
  if (half * 2 != x.dim(-1)) fail("glu: the last axis must be even, got shape ", x.shape());
  const Tensors parts = split(x, {half, half}, -1);
  return parts[0] * sigmoid(parts[1]);
}

Tensor hard_sigmoid(const Tensor& x) { return clip(x / 6.0 + 0.5, 0, 1); }

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

struct Row {
  const char* name;
  const char* doc;
  Function apply;
  std::vector<std::string> aliases{};
};

const Row kRows[] = {
    {"linear", "x", [](const Tensor& x) { return x; }},
    {"relu", "max(x, 0)", [](const Tensor& x) { return relu(x); }},
    {"sigmoid", "1 / (1 + exp(-x))", [](const Tensor& x) { return sigmoid(x); }},
    {"tanh", "Hyperbolic tangent.", [](const Tensor& x) { return tanh(x); }},
    {"softmax", "exp(x) / sum exp(x) over the last axis.",
     [](const Tensor& x) { return softmax(x, -1); }},
    {"log_softmax", "log of softmax.", [](const Tensor& x) { return log_softmax(x, -1); }},
    {"elu", "x above 0, exp(x) - 1 below.", [](const Tensor& x) { return elu(x); }},
    {"selu", "Scaled elu that keeps mean and variance.",
     [](const Tensor& x) { return kSeluScale * elu(x, kSeluAlpha); }},
    {"celu", "max(x, 0) + min(exp(x) - 1, 0)",
     [](const Tensor& x) { return relu(x) + expm1(minimum(x, 0)); }},
    {"softplus", "log(1 + exp(x))", [](const Tensor& x) { return softplus(x); }},
    {"softsign", "x / (1 + |x|)", [](const Tensor& x) { return x / (abs(x) + 1.0); }},
    {"exponential", "exp(x)", [](const Tensor& x) { return exp(x); }, {"exp"}},
    {"gelu", "x * normal distribution function of x.",
     [](const Tensor& x) { return gelu(x, false); }},
    {"silu", "x * sigmoid(x)", [](const Tensor& x) { return silu(x); }, {"swish"}},
    {"mish", "x * tanh(softplus(x))", [](const Tensor& x) { return x * tanh(softplus(x)); }},
    {"leaky_relu", "x above 0, 0.2 x below.", [](const Tensor& x) { return leaky_relu(x, 0.2); }},
    {"relu6", "relu clipped at 6.", [](const Tensor& x) { return clip(x, 0, 6); }},
    {"hard_sigmoid", "clip(x / 6 + 0.5, 0, 1)", hard_sigmoid},
    {"hard_sigmoid_keras2", "clip(0.2 x + 0.5, 0, 1): hard_sigmoid of Keras 2.",
     [](const Tensor& x) { return clip(x * 0.2 + 0.5, 0, 1); }},
    {"hard_silu",
     "x * hard_sigmoid(x)",
     [](const Tensor& x) { return x * hard_sigmoid(x); },
     {"hard_swish"}},
    {"hard_tanh", "clip(x, -1, 1)", [](const Tensor& x) { return clip(x, -1, 1); }},
    {"hard_shrink", "x where |x| > 0.5, else 0.",
     [](const Tensor& x) { return where(greater(abs(x), 0.5), x, 0); }},
    {"soft_shrink", "x moved by 0.5 towards 0.",
     [](const Tensor& x) { return soft_shrink(x, 0.5); }},
    {"tanh_shrink", "x - tanh(x)", [](const Tensor& x) { return x - tanh(x); }},
    {"threshold", "x where x > 0, else 0.",
     [](const Tensor& x) { return where(greater(x, 0), x, 0); }},
    {"log_sigmoid", "log of sigmoid.", [](const Tensor& x) { return -softplus(-x); }},
    {"squareplus", "(x + sqrt(x^2 + 4)) / 2",
     [](const Tensor& x) { return (x + sqrt(square(x) + 4.0)) * 0.5; }},
    {"sparse_plus", "0 below -1, (x + 1)^2 / 4 between, x above 1.",
     [](const Tensor& x) {
       return where(less_equal(x, -1), 0, where(less(x, 1), 0.25 * square(x + 1.0), x));
     }},
    {"sparse_sigmoid", "clip((x + 1) / 2, 0, 1)",
     [](const Tensor& x) { return clip((x + 1.0) * 0.5, 0, 1); }},
    {"sparsemax", "Projection of each row onto the simplex.", sparsemax},
    {"glu", "First half * sigmoid(second half) of the last axis.", glu},
};

class NamedActivation final : public Activation {
 public:
  explicit NamedActivation(Function apply) : apply_(apply) {}
  Tensor operator()(const Tensor& x) const override { return apply_(x); }
  Dict get_config() const override { return {}; }

 private:
  Function apply_;
};

class RowFactory final : public Factory {
 public:
  RowFactory(const SchemaData& schema, Function apply) : schema_(schema), apply_(apply) {}
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

CRESCENT_PLUGIN("activations", CRESCENT_VERSION) {
  for (const Row& row : kRows) {
    ClassInfo info;
    info.kind = Activation::kKind;
    info.name = row.name;
    info.aliases = row.aliases;
    info.schema.title = row.name;
    info.schema.description = row.doc;
    info.factory = std::make_shared<RowFactory>(info.schema, row.apply);
    registry.add(std::move(info));
  }
}

}  // namespace crescent
