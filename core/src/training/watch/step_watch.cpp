#include "training/watch/step_watch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

bool is_finite(const Tensor& t) {
  const std::vector<double> elements = t.to_vector();
  return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
}

/// An op that returns its first input. The other inputs are tensors, followed by the sum of each of
/// these tensors. The op fails if an element of the tensors is not finite. The elements of a tensor
/// are read only if its sum is not finite: they may be finite nevertheless, because a sum can
/// overflow.
struct CheckFinite final : OpOf<CheckFinite> {
  static constexpr const char* kName = "check_finite";
  auto fields() const { return std::tuple(); }
  Effect effect() const override { return Effect::check; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const size_t count = in.size() / 2;
    for (size_t i = 1; i <= count; ++i)
      if (!is_finite(in[i + count]) && !is_finite(in[i])) throw NotFinite();
    std::memcpy(out[0].mutable_raw(), in[0].raw(), in[0].bytes());
    return true;
  }
};

Tensor sum_of_squares(const Tensor& x) {
  return ops::sum(ops::square(ops::cast(x, DType::float32)));
}

/// The gradient with the fewest elements, which is cheapest to copy; null when there is none.
Tensor* smallest_gradient(Tensors& gradients) {
  Tensor* smallest = nullptr;
  for (Tensor& gradient : gradients)
    if (gradient && (!smallest || gradient.size() < smallest->size())) smallest = &gradient;
  return smallest;
}

}  // namespace

std::string layer_of_weight(const Variable& variable) {
  const std::string& path = variable.path();
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(0, slash);
}

StepWatch::StepWatch(const StepExtras& extras, const Optimizer& optimizer)
    : extras_(extras), skips_infinite_(optimizer.class_name() == "LossScaleOptimizer") {}

bool StepWatch::is_needed(const StepExtras& extras) {
  return extras.checks_finite || extras.gradient_norms || extras.weight_norms;
}

void StepWatch::on_loss(const Tensor& loss) {
  if (!extras_.checks_finite || loss.id() == last_loss_id_) return;
  last_loss_id_ = loss.id();
  losses_.push_back(loss);
}

void StepWatch::on_gradients(Tensors& gradients, const Variables& variables) {
  const NoGradient no_gradient;
  const ProgramScope scope("nan");
  record_squares(gradients, variables);
  if (!extras_.checks_finite) return;
  for (const Variable& v : variables)
    if (division_of(v))
      fail("fit: option 'nan' needs whole weights, and '", v.path(),
           "' is divided among processes");
  add_check(gradients);
}

/// Replaces the smallest gradient by the result of the check. The update of the variables needs all
/// gradients, so it runs after the check.
void StepWatch::add_check(Tensors& gradients) {
  Tensors checked_tensors = std::exchange(losses_, {});
  if (!skips_infinite_)
    for (const Tensor& gradient : gradients)
      if (gradient) checked_tensors.push_back(gradient);
  Tensor* passed_gradient = smallest_gradient(gradients);
  if (!passed_gradient || checked_tensors.empty()) return;
  Tensors inputs{*passed_gradient};
  inputs.insert(inputs.end(), checked_tensors.begin(), checked_tensors.end());
  for (const Tensor& tensor : checked_tensors) inputs.push_back(ops::sum(tensor));
  *passed_gradient = crescent::apply(std::make_shared<const CheckFinite>(), inputs).front();
}

void StepWatch::record_squares(const Tensors& gradients, const Variables& variables) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    const std::string layer_name = layer_of_weight(variables[i]);
    if (!square_sums_.contains(layer_name)) layer_names_.push_back(layer_name);
    SquareSums& square_sums = square_sums_[layer_name];
    const auto add = [&](Tensors& terms, const Tensor& tensor) {
      terms.push_back(sum_over_parts(variables[i], sum_of_squares(tensor)));
    };
    if (extras_.gradient_norms) add(square_sums.gradients, gradients[i]);
    const PartAccess part_access;
    if (extras_.weight_norms) add(square_sums.weights, variables[i].value());
  }
}

std::vector<std::pair<std::string, Tensor>> StepWatch::norms() const {
  const NoGradient no_gradient;
  std::vector<std::pair<std::string, Tensor>> norms;
  const auto add = [&](const char* prefix, Tensors SquareSums::*terms_of_kind) {
    for (const std::string& layer_name : layer_names_)
      if (const Tensors& terms = square_sums_.at(layer_name).*terms_of_kind; !terms.empty())
        norms.emplace_back(prefix + layer_name, ops::sqrt(ops::add_n(terms)));
  };
  add("gradient_norm/", &SquareSums::gradients);
  add("weight_norm/", &SquareSums::weights);
  return norms;
}

}  // namespace crescent
