// apply(): the function through which every op is applied.
#include "crescent/program/op.h"

#include <algorithm>

#include "crescent/program/gradient.h"
#include "crescent/program/op_types.h"
#include "program/eager.h"
#include "program/large_results.h"
#include "program/op_blame.h"
#include "program/recording/recorder.h"
#include "program/recording/tape.h"

namespace crescent {

Op::~Op() = default;

std::string Op::label() const { return std::string(name()); }

TensorSpecs specs_of(std::span<const Tensor> tensors) {
  TensorSpecs specs;
  specs.reserve(tensors.size());
  for (const Tensor& tensor : tensors) specs.push_back(tensor.spec());
  return specs;
}

Tensors Op::decompose(std::span<const Tensor>) const { return {}; }

bool Op::supports_dtype(DType) const { return false; }

bool Op::compute(std::span<const Tensor>, std::span<Tensor>) const { return false; }

bool Op::computes() const { return false; }

Tensors Op::vjp(const Vjp& v) const {
  GradientTape tape;
  for (size_t i = 0; i < v.inputs.size(); ++i) {
    if (v.wanted[i]) tape.watch(v.inputs[i]);
  }
  Tensors outputs = decompose(v.inputs);
  tape.stop();
  if (outputs.empty()) return Tensors(v.inputs.size());
  Tensors targets, upstreams;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!v.gradients[i]) continue;
    targets.push_back(outputs[i]);
    upstreams.push_back(v.gradients[i]);
  }
  return tape.gradient(targets, v.inputs, upstreams);
}

size_t detail::hash_bytes(const void* bytes, size_t count) {
  const auto* byte_values = static_cast<const unsigned char*>(bytes);
  size_t hash = 14695981039346656037ull;  // the FNV-1a hash function
  for (size_t i = 0; i < count; ++i) hash = (hash ^ byte_values[i]) * 1099511628211ull;
  return hash;
}

namespace {

/// Whether the op is a large broadcast within a trace. It is then recorded as an instruction, which
/// costs almost nothing, instead of being computed and stored as a large constant.
bool is_better_recorded(const Op& op, const TensorSpecs& results) {
  constexpr int64_t kMaxComputedBytes = 64 << 10;
  return op.name() == BroadcastTo::kName && Recorder::current() &&
         results[0].bytes() > kMaxComputedBytes;
}

/// The specs of the results, as infer() returns them. Only an op with effects may have no results.
TensorSpecs inferred_specs(const Op& op, const TensorSpecs& inputs) {
  TensorSpecs results = blaming(op, "infer", [&] { return op.infer(inputs); });
  if (results.empty() && op.effect() == Effect::none)
    fail(op_description(op), ": infer() gave no results");
  return results;
}

void expect_dtype_supported(const Op& op, DType dtype) {
  const bool has_strings = dtype == DType::string;
  if ((has_strings || dtype == DType::complex64) && !op.supports_dtype(dtype))
    fail(op.label(), " takes no ", has_strings ? "strings" : "complex numbers");
}

}  // namespace

Tensors apply(OpPtr op, std::span<const Tensor> inputs) {
  TensorSpecs specs;
  specs.reserve(inputs.size());
  bool are_outputs_abstract = false;
  for (const Tensor& input : inputs) {
    specs.push_back(input.spec());
    expect_dtype_supported(*op, input.dtype());
    are_outputs_abstract = are_outputs_abstract || input.is_abstract();
  }
  Recorder* const recorder = Recorder::current();
  // An op that reads changing state or has side effects is recorded, so that it runs with the
  // program and not during the trace.
  are_outputs_abstract = are_outputs_abstract || (recorder && op->effect() >= Effect::state);
  const TensorSpecs results = inferred_specs(*op, specs);
  are_outputs_abstract =
      are_outputs_abstract || std::any_of(results.begin(), results.end(), [](const TensorSpec& s) {
        return !s.shape.is_known() || LargeResultsAbstract::includes(s.shape);
      });
  are_outputs_abstract = are_outputs_abstract || is_better_recorded(*op, results);

  Tensors outputs;
  if (are_outputs_abstract) {
    outputs.reserve(results.size());
    for (const TensorSpec& spec : results) outputs.push_back(Tensor::abstract(spec));
    if (recorder) recorder->record(op, inputs, outputs);
  } else {
    outputs = run_now(op, inputs, specs, results);
    if (recorder)
      for (const Tensor& input : inputs) recorder->hold(input);
  }
  record_on_tapes(op, inputs, outputs, are_outputs_abstract);
  return outputs;
}

}  // namespace crescent
