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
  TensorSpecs in, out;
};

double elements(const TensorSpec& spec) { return static_cast<double>(spec.shape.size()); }

/// The size of an axis counted from the last one.
double size_from_end(const TensorSpec& spec, int axis) {
  return static_cast<double>(spec.shape[spec.shape.rank() - axis]);
}

double per_output_element(const OpCall& call) { return elements(call.out[0]); }
double per_input_element(const OpCall& call) { return elements(call.in[0]); }
double per_update_element(const OpCall& call) { return elements(call.in[1]); }

double of_matmul(const OpCall& call) {
  const bool transposed = static_cast<const Matmul&>(call.op).transpose_a;
  return 2 * elements(call.out[0]) * size_from_end(call.in[0], transposed ? 2 : 1);
}

/// Two operations, a multiplication and an addition, for each element of `outputs` and each kernel
/// element of its channel; the channels are the last axis of the kernel.
double of_kernel(const TensorSpec& outputs, const TensorSpec& kernel) {
  return 2 * elements(outputs) * elements(kernel) / size_from_end(kernel, 1);
}

double of_convolution(const OpCall& call) { return of_kernel(call.out[0], call.in[1]); }
double of_transposed_convolution(const OpCall& call) { return of_kernel(call.in[0], call.in[1]); }
double of_kernel_gradient(const OpCall& call) { return of_kernel(call.in[1], call.out[0]); }

/// Padding is counted like other elements of a window.
double of_pool(const OpCall& call) {
  double flops = elements(call.out[0]);
  for (const int64_t size : static_cast<const Pool&>(call.op).window)
    flops *= static_cast<double>(size);
  return flops;
}

double of_distances(const OpCall& call) {
  return 3 * elements(call.out[0]) * size_from_end(call.in[0], 1);
}

double of_banded_matmul(const OpCall& call) {
  const auto taps = static_cast<const BandedMatmul&>(call.op).taps();
  return 2 * elements(call.out[0]) * static_cast<double>(taps);
}

/// A Fourier transform counts as 5 n log2 n operations for each row of n complex numbers.
double of_fourier(const OpCall& call) {
  return 5 * elements(call.in[0]) * std::log2(std::max(size_from_end(call.in[0], 1), 2.0));
}
double of_real_fourier(const OpCall& call) { return of_fourier(call) / 2; }
double of_inverse_real_fourier(const OpCall& call) {
  return 2.5 * elements(call.out[0]) * std::log2(std::max(size_from_end(call.out[0], 1), 2.0));
}

double of_samples(const OpCall& call, int64_t order) {
  return order == 0 ? 0 : 8 * elements(call.out[0]);
}
double of_sampled_images(const OpCall& call) {
  return of_samples(call, static_cast<const SampleImages&>(call.op).order);
}
double of_projected_images(const OpCall& call) {
  return of_samples(call, static_cast<const ProjectImages&>(call.op).order);
}

double of_cholesky(const OpCall& call) {
  return elements(call.in[0]) * size_from_end(call.in[0], 1) / 3;
}
double of_lu(const OpCall& call) { return 2 * of_cholesky(call); }
double of_triangular_solve(const OpCall& call) {
  return elements(call.out[0]) * size_from_end(call.in[0], 1);
}
double of_solve(const OpCall& call) { return of_lu(call) + 2 * of_triangular_solve(call); }

double of_decomposition(const OpCall& call);

/// The share of the pairs of a query and a key that causal attention compares: query i sees the
/// keys up to i.
double causal_share(double queries, double keys) {
  const double square = std::min(queries, keys);
  return 1 - square * (2 * keys - square - 1) / (2 * queries * keys);
}

template <class O>
double of_attention(const OpCall& call) {
  O op = static_cast<const O&>(call.op);
  const double share = op.causal ? causal_share(static_cast<double>(call.in[0].shape[1]),
                                                static_cast<double>(call.in[1].shape[1]))
                                 : 1;
  op.causal = false;
  return share * of_decomposition({op, call.in, call.out});
}

/// The operations of the body times the number of steps.
double of_scan(const OpCall& call) {
  const auto& scan = static_cast<const Scan&>(call.op);
  double step = 0;
  for (const auto& [scope, flops] : flops_by_scope(*scan.body)) step += flops;
  return step * static_cast<double>(call.in[static_cast<size_t>(scan.states)].shape[0]);
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
      {Matmul::kName, of_matmul},
      {BandedMatmul::kName, of_banded_matmul},
      {Conv::kName, of_convolution},
      {ConvBackwardData::kName, of_transposed_convolution},
      {ConvBackwardKernel::kName, of_kernel_gradient},
      {Pool::kName, of_pool},
      {Distances::kName, of_distances},
      {Fourier::kName, of_fourier},
      {RealFourier::kName, of_real_fourier},
      {RealOfFourier::kName, of_inverse_real_fourier},
      {SampleImages::kName, of_sampled_images},
      {ProjectImages::kName, of_projected_images},
      {Cholesky::kName, of_cholesky},
      {Lu::kName, of_lu},
      {TriangularSolve::kName, of_triangular_solve},
      {Solve::kName, of_solve},
      {Scan::kName, of_scan},
      {Attention::kName, of_attention<Attention>},
      {AttentionBackward::kName, of_attention<AttentionBackward>}};
  return rules;
}

/// Returns the decomposition of the op as a program; a program without instructions if the op has
/// none.
Program decomposed(const OpCall& call) {
  return trace([&](const Tensors& inputs) { return call.op.decompose(inputs); }, call.in);
}

double of_decomposition(const OpCall& call) {
  double sum = 0;
  for (const auto& [scope, flops] : flops_by_scope(decomposed(call))) sum += flops;
  return sum;
}

double flops_of(const OpCall& call) {
  const auto rule = rules().find(call.op.name());
  return rule != rules().end() ? rule->second(call) : of_decomposition(call);
}

}  // namespace

std::map<std::string, double> flops_by_scope(const Program& program) {
  std::map<std::string, double> flops;
  for (const Program::Instruction& each : program.code)
    flops[program.scopes[static_cast<size_t>(each.scope)]] +=
        flops_of({*each.op, program.specs_of(each.inputs), program.specs_of(each.outputs)});
  return flops;
}

}  // namespace crescent
