// Evaluates ops that have no rule: runs them on perturbed inputs and derives the error bound from
// the spread of the results.
#include <algorithm>
#include <cmath>

#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"
#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

constexpr int kSampleCount = 4;
constexpr double kSafetyFactor = 32;  ///< a safety factor for rounding errors and spreads

/// Perturbs each element within its bound, differently in every sample.
Bounded perturbed(const Bounded& x, uint64_t sample, size_t input, double u) {
  Bounded y = x;
  y.bound.clear();
  for (size_t i = 0; i < y.real.size(); ++i) {
    const uint32_t word = philox(sample, input, i / 4).word[i % 4];
    const double factor = static_cast<double>(word) / 0x1p31 - 1;
    const double e = is_undecided(x.error(i)) ? 0 : x.error(i);
    y.real[i] += factor * (e + u * std::abs(x.real[i]));
  }
  return y;
}

Tensors run(const OpPtr& op, std::span<const Bounded> inputs, bool in_float64) {
  Tensors arguments;
  for (const Bounded& x : inputs) arguments.push_back(in_float64 ? widened(x) : rounded(x));
  const NoTrace no_trace;
  const NoGradient no_gradient;
  return crescent::apply(op, arguments);
}

bool has_shapes(const Tensors& results, const TensorSpecs& specs) {
  return results.size() == specs.size() &&
         std::equal(results.begin(), results.end(), specs.begin(),
                    [](const Tensor& t, const TensorSpec& s) {
                      return t.shape() == s.shape &&
                             (is_floating(t.dtype()) == is_floating(s.dtype));
                    });
}

}  // namespace

std::vector<Bounded> sample(const OpPtr& op, std::span<const BoundedPtr> inputs,
                            const TensorSpecs& outputs, Rounding rounding) {
  std::vector<Bounded> input_values;
  double u = rounding == Rounding::float64 ? 0x1p-53 : 0;
  bool has_undecided_input = false;
  for (const BoundedPtr& x : inputs) {
    input_values.push_back(*x);
    has_undecided_input = has_undecided_input || x->spec.dtype == DType::complex64;
    if (x->is_real()) u = std::max(u, unit_roundoff(x->spec.dtype, rounding));
    for (size_t i = 0; i < x->bound.size(); ++i)
      has_undecided_input =
          has_undecided_input || is_undecided(x->bound[i]) || (!x->is_real() && x->bound[i] > 0);
  }
  for (const TensorSpec& spec : outputs)
    if (is_floating(spec.dtype)) u = std::max(u, unit_roundoff(spec.dtype, rounding));
  bool in_float64 = true;
  Tensors results;
  try {
    results = run(op, input_values, true);
  } catch (const Error&) {
  }
  if (!has_shapes(results, outputs)) in_float64 = false, results = run(op, input_values, false);

  std::vector<Bounded> central_results;
  for (size_t o = 0; o < outputs.size(); ++o) {
    Bounded y = Bounded::of(results[o], Rounding::float64);
    y.spec = outputs[o];
    if (has_undecided_input && (y.is_real() || y.is_whole())) y = Bounded::undecided(outputs[o]);
    central_results.push_back(std::move(y));
  }
  if (has_undecided_input) return central_results;
  const double step = in_float64 ? u : std::max(u, 0x1p-24);
  for (uint64_t s = 0; s < kSampleCount; ++s) {
    std::vector<Bounded> perturbed_inputs;
    for (size_t i = 0; i < input_values.size(); ++i)
      perturbed_inputs.push_back(perturbed(input_values[i], s, i, 2 * step));
    const Tensors perturbed_outputs = run(op, perturbed_inputs, in_float64);
    for (size_t o = 0; o < outputs.size(); ++o) {
      Bounded& y = central_results[o];
      if (!y.is_real() && !y.is_whole()) continue;
      const Bounded spread_result = Bounded::of(perturbed_outputs[o], Rounding::float64);
      for (size_t i = 0; i < y.size(); ++i) {
        if (y.is_whole()) {
          if (spread_result.whole[i] != y.whole[i]) y.widen(i, kUndecided);
          continue;
        }
        const double error = kSafetyFactor * std::abs(spread_result.real[i] - y.real[i]);
        if (error > y.error(i)) y.widen(i, error - y.error(i));
      }
    }
  }
  for (Bounded& y : central_results)
    for (size_t i = 0; i < y.real.size(); ++i)
      y.widen(i,
              kSafetyFactor * step * std::abs(y.real[i]) + smallest_number(y.spec.dtype, rounding));
  return central_results;
}

}  // namespace crescent::validation
