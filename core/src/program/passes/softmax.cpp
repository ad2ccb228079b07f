// Softmax, its logarithm and its gradient.
//
//   %1 = softmax(%0)                   %4 = log_softmax(%0)
//   %2 = log(%1)                ->
//
// Keras' crossentropies of probabilities divide by their sum before the logarithm. The gradient
// through the sum is the same for all classes, and what is the same for all classes the gradient of
// softmax takes away again (the sum of p is 1):
//
//   %4 = add(%3, %2 (n, 1))            %5 = multiply(%3, p)
//   %5 = multiply(%4, p)        ->     %6 = sum(%5, -1)
//   %6 = sum(%5, -1)                   %7 = subtract(%3, %6)
//   %7 = subtract(%4, %6)
//
// The division itself stays: the loss has Keras' digits.
#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

int join_logarithm(Rewriting& r, const Instruction& i) {
  auto* made = r.made_by<Softmax>(i.inputs[0]);
  if (op_of<Unary>(i).kind != UnaryKind::log || !made || op_of<Softmax>(*made).log) return kKeep;
  Softmax joined = op_of<Softmax>(*made);
  joined.log = true;
  return r.add(joined, {made->inputs[0]});
}

/// Half-width probabilities add up to 1 too roughly.
bool is_precise(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// The value is made by that kind of binary op: its operands, both ways round.
std::vector<std::pair<int, int>> operands(Rewriting& r, int value, BinaryKind kind) {
  auto* made = r.made_by<Binary>(value);
  if (!made || op_of<Binary>(*made).kind != kind) return {};
  const int a = made->inputs[0], b = made->inputs[1];
  return {{a, b}, {b, a}};
}

/// The probabilities p when `total` is sum(x * p) over the axis of their softmax, or kKeep.
int weights_of_mean(Rewriting& r, int total, int x) {
  auto* made = r.made_by<Reduce>(total);
  if (!made) return kKeep;
  const auto& sum = op_of<Reduce>(*made);
  if (sum.kind != ReduceKind::sum || !sum.keepdims || sum.axes.size() != 1) return kKeep;
  for (auto [factor, p] : operands(r, made->inputs[0], BinaryKind::multiply)) {
    auto* softmax = r.op_that_made<Softmax>(p);
    const bool fits = factor == x && softmax && !softmax->log && r.spec(p) == r.spec(x);
    if (fits && r.shape(p).axis(softmax->axis) == sum.axes[0]) return p;
  }
  return kKeep;
}

bool is_level(const Shape& shape, int axis, int rank) {
  const int own = axis - (rank - shape.rank());
  return own < 0 || shape[own] == 1;
}

int drop_level(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0], total = i.inputs[1];
  if (op_of<Binary>(i).kind != BinaryKind::subtract || !is_precise(r.dtype(x))) return kKeep;
  const int p = weights_of_mean(r, total, x);
  if (p == kKeep) return kKeep;
  const OpPtr sum = r.maker(total)->op;
  for (auto [rest, level] : operands(r, x, BinaryKind::add)) {
    const bool is_same =
        is_level(r.shape(level), static_cast<const Reduce&>(*sum).axes[0], r.shape(x).rank());
    if (!is_same || !(r.spec(rest) == r.spec(x))) continue;
    const int mean = r.add(sum, {r.add_binary(BinaryKind::multiply, rest, p)});
    return r.add_binary(BinaryKind::subtract, rest, mean);
  }
  return kKeep;
}

constexpr RuleRow kSoftmaxRules[] = {{Unary::kName, join_logarithm}, {Binary::kName, drop_level}};

}  // namespace

bool softmax(Program& program) { return rewrite(program, kSoftmaxRules); }

}  // namespace crescent::passes
