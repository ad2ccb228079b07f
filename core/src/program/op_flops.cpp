#include "program/op_flops.h"

#include <algorithm>
#include <cmath>

#include "crescent/program/array_op_types.h"
#include "crescent/program/linalg_op_types.h"
#include "crescent/program/op_types.h"

namespace crescent {
namespace {

/// An instruction with the specs of its values.
struct OpCall {
  const Op& op;
  TensorSpecs input_specs, output_specs;
};

double elements(const TensorSpec& spec) { return static_cast<double>(spec.shape.size()); }

/// The size of an axis; axes are counted from the last one, which has number 1.
double size_from_end(const TensorSpec& spec, int axis) {
  return static_cast<double>(spec.shape[spec.shape.rank() - axis]);
}

double per_output_element(const OpCall& call) { return elements(call.output_specs[0]); }
double per_input_element(const OpCall& call) { return elements(call.input_specs[0]); }
double per_update_element(const OpCall& call) { return elements(call.input_specs[1]); }

double flops_of_matmul(const OpCall& call) {
  const bool is_transposed = static_cast<const Matmul&>(call.op).transpose_a;
  return 2 * elements(call.output_specs[0]) *
         size_from_end(call.input_specs[0], is_transposed ? 2 : 1);
}

/// Two operations, a multiplication and an addition, for each element of `outputs` and each kernel
/// element of its channel; the channels are the last axis of the kernel.
double flops_of_kernel(const TensorSpec& outputs, const TensorSpec& kernel) {
  return 2 * elements(outputs) * elements(kernel) / size_from_end(kernel, 1);
}

double flops_of_convolution(const OpCall& call) {
  return flops_of_kernel(call.output_specs[0], call.input_specs[1]);
}
double flops_of_transposed_convolution(const OpCall& call) {
  return flops_of_kernel(call.input_specs[0], call.input_specs[1]);
}
double flops_of_kernel_gradient(const OpCall& call) {
  return flops_of_kernel(call.input_specs[1], call.output_specs[0]);
}

/// Padding is counted like other elements of a window.
double flops_of_pool(const OpCall& call) {
  double flop_count = elements(call.output_specs[0]);
  for (const int64_t size : static_cast<const Pool&>(call.op).window)
    flop_count *= static_cast<double>(size);
  return flop_count;
}

double flops_of_distances(const OpCall& call) {
  return 3 * elements(call.output_specs[0]) * size_from_end(call.input_specs[0], 1);
}

double flops_of_banded_matmul(const OpCall& call) {
  const auto taps = static_cast<const BandedMatmul&>(call.op).taps();
  return 2 * elements(call.output_specs[0]) * static_cast<double>(taps);
}

/// A Fourier transform counts as 5 n log2 n operations for each row of n complex numbers.
double flops_of_fourier(const OpCall& call) {
  return 5 * elements(call.input_specs[0]) *
         std::log2(std::max(size_from_end(call.input_specs[0], 1), 2.0));
}
double flops_of_real_fourier(const OpCall& call) { return flops_of_fourier(call) / 2; }
double flops_of_inverse_real_fourier(const OpCall& call) {
  return 2.5 * elements(call.output_specs[0]) *
         std::log2(std::max(size_from_end(call.output_specs[0], 1), 2.0));
}

double flops_of_samples(const OpCall& call, int64_t order) {
  return order == 0 ? 0 : 8 * elements(call.output_specs[0]);
}
double flops_of_sampled_images(const OpCall& call) {
  return flops_of_samples(call, static_cast<const SampleImages&>(call.op).order);
}
double flops_of_projected_images(const OpCall& call) {
  return flops_of_samples(call, static_cast<const ProjectImages&>(call.op).order);
}

double flops_of_cholesky(const OpCall& call) {
  return elements(call.input_specs[0]) * size_from_end(call.input_specs[0], 1) / 3;
}
double flops_of_lu(const OpCall& call) { return 2 * flops_of_cholesky(call); }
double flops_of_triangular_solve(const OpCall& call) {
  return elements(call.output_specs[0]) * size_from_end(call.input_specs[0], 1);
}
double flops_of_solve(const OpCall& call) {
  return flops_of_lu(call) + 2 * flops_of_triangular_solve(call);
}

double flops_of_decomposition(const OpCall& call);

/// The share of the pairs of a query and a key that causal attention compares: query i sees the
/// keys up to i.
double causal_share(double queries, double keys) {
  const double square_size = std::min(queries, keys);
  return 1 - square_size * (2 * keys - square_size - 1) / (2 * queries * keys);
}

template <class O>
double flops_of_attention(const OpCall& call) {
  O op = static_cast<const O&>(call.op);
  const double computed_share =
      op.causal ? causal_share(static_cast<double>(call.input_specs[0].shape[1]),
                               static_cast<double>(call.input_specs[1].shape[1]))
                : 1;
  op.causal = false;
  return computed_share * flops_of_decomposition({op, call.input_specs, call.output_specs});
}

/// The operations of the body times the number of steps.
double flops_of_scan(const OpCall& call) {
  const auto& scan = static_cast<const Scan&>(call.op);
  double flops_per_step = 0;
  for (const auto& [scope, flops] : flops_by_scope(*scan.body)) flops_per_step += flops;
  return flops_per_step *
         static_cast<double>(call.input_specs[static_cast<size_t>(scan.states)].shape[0]);
}

using Rule = double (*)(const OpCall&);

/// The rules that count operations, by the name of the op.
const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> rules{
      {Unary::kName, per_output_element},
      {Binary::kName, per_output_element},
      {SpecialFunction::kName, per_output_element},
      {Reduce::kName, per_input_element},
      {ArgReduce::kName, per_input_element},
      {Cumulative::kName, per_input_element},
      {Cumprod::kName, per_input_element},
      {Diff::kName, per_output_element},
      {"segment_reduce", per_input_element},
      {ScatterAdd::kName, per_update_element},
      {PatchSum::kName, per_input_element},
      {Matmul::kName, flops_of_matmul},
      {BandedMatmul::kName, flops_of_banded_matmul},
      {Conv::kName, flops_of_convolution},
      {ConvBackwardData::kName, flops_of_transposed_convolution},
      {ConvBackwardKernel::kName, flops_of_kernel_gradient},
      {Pool::kName, flops_of_pool},
      {Distances::kName, flops_of_distances},
      {Fourier::kName, flops_of_fourier},
      {RealFourier::kName, flops_of_real_fourier},
      {RealOfFourier::kName, flops_of_inverse_real_fourier},
      {SampleImages::kName, flops_of_sampled_images},
      {ProjectImages::kName, flops_of_projected_images},
      {Cholesky::kName, flops_of_cholesky},
      {Lu::kName, flops_of_lu},
      {TriangularSolve::kName, flops_of_triangular_solve},
      {Solve::kName, flops_of_solve},
      {Scan::kName, flops_of_scan},
      {Attention::kName, flops_of_attention<Attention>},
      {AttentionBackward::kName, flops_of_attention<AttentionBackward>}};
  return rules;
}

/// Returns the decomposition of the op as a program; a program without instructions if the op has
/// none.
Program decomposition_of(const OpCall& call) {
  return trace([&](const Tensors& inputs) { return call.op.decompose(inputs); }, call.input_specs);
}

double flops_of_decomposition(const OpCall& call) {
  double sum = 0;
  for (const auto& [scope, flops] : flops_by_scope(decomposition_of(call))) sum += flops;
  return sum;
}

double flops_of(const OpCall& call) {
  const auto rule = rules().find(call.op.name());
  return rule != rules().end() ? rule->second(call) : flops_of_decomposition(call);
}

}  // namespace

std::map<std::string, double> flops_by_scope(const Program& program) {
  std::map<std::string, double> flops;
  for (const Program::Instruction& instruction : program.code)
    flops[program.scopes[static_cast<size_t>(instruction.scope)]] +=
        flops_of({*instruction.op, program.specs_of(instruction.inputs),
                  program.specs_of(instruction.outputs)});
  return flops;
}

}  // namespace crescent
