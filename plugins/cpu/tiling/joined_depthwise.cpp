#include "tiling/joined_depthwise.h"

#include <algorithm>
#include <optional>
#include <set>

#include "convolution/depthwise.h"
#include "kernel/post_ops.h"
#include "normalization/batch_norm_parts.h"
#include "tiling/cut.h"

namespace crescent::cpu {
namespace {

using Instruction = Program::Instruction;

/// The operands x, mean, rstd, gamma and beta of the chain (x - mean) rstd gamma + beta, and
/// whether a relu follows.
struct Normalization {
  std::vector<int> values;
  bool relu;
};
std::optional<Normalization> normalization_of(const Instruction& i) {
  constexpr BinaryKind kSteps[] = {BinaryKind::subtract, BinaryKind::multiply, BinaryKind::multiply,
                                   BinaryKind::add};
  constexpr int kStepCount = 4;
  const auto* fused_op = as<Fused>(*i.op);
  const int inputs = static_cast<int>(i.inputs.size());
  if (!fused_op || inputs != 1 + kStepCount || fused_op->outputs.size() != 1) return {};
  const std::vector<FusedStep>& steps = fused_op->steps;
  const int count = static_cast<int>(steps.size());
  const bool relu = count == kStepCount + 1;
  if (count < kStepCount || count > kStepCount + 1 || fused_op->outputs[0] != inputs + count - 1)
    return {};
  if (relu &&
      (steps[kStepCount].kind != FusedStep::Kind::unary ||
       steps[kStepCount].unary != UnaryKind::relu || steps[kStepCount].args[0] != inputs + 3))
    return {};
  Normalization result{{}, relu};
  for (int s = 0; s < kStepCount; ++s) {
    const FusedStep& step = steps[s];
    const int expected_operand = s == 0 ? step.args[0] : inputs + s - 1;
    if (step.kind != FusedStep::Kind::binary || step.binary != kSteps[s] ||
        step.args[0] != expected_operand || step.args[1] >= inputs ||
        (s == 0 && expected_operand >= inputs))
      return {};
    if (s == 0) result.values.push_back(i.inputs[expected_operand]);
    result.values.push_back(i.inputs[step.args[1]]);
  }
  return result;
}

class JoinedDepthwise {
 public:
  explicit JoinedDepthwise(Program& program) : program_(program) {}

  void run() {
    for (size_t i = 0; i < program_.code.size(); ++i) join_forward(i) || join_gradients(i);
    std::erase_if(program_.code, [](const Instruction& i) { return !i.op; });
  }

 private:
  const TensorSpec& spec(int value) const { return program_.values[value]; }

  std::vector<const Instruction*> readers(int value) const {
    std::vector<const Instruction*> reader_instructions;
    for (const Instruction& i : program_.code) {
      if (i.op && std::count(i.inputs.begin(), i.inputs.end(), value))
        reader_instructions.push_back(&i);
    }
    return reader_instructions;
  }
  bool is_result(int value) const {
    return std::count(program_.outputs.begin(), program_.outputs.end(), value) > 0;
  }
  /// Whether no instruction other than `instructions` reads the value, and the value is not an
  /// output of the program.
  bool is_read_by(int value, const std::set<const Instruction*>& instructions) const {
    const auto value_readers = readers(value);
    return !is_result(value) && value_readers.size() == instructions.size() &&
           std::all_of(value_readers.begin(), value_readers.end(),
                       [&](auto* i) { return instructions.count(i) > 0; });
  }
  Instruction* producer(int value) {
    for (Instruction& i : program_.code) {
      if (i.op && std::count(i.outputs.begin(), i.outputs.end(), value)) return &i;
    }
    return nullptr;
  }
  /// The normalization per channel that computes this value; nullopt if the value is computed
  /// otherwise.
  std::optional<Normalization> normalization(int value) {
    const Instruction* source = producer(value);
    auto found = source ? normalization_of(*source) : std::nullopt;
    if (!found || spec(found->values[0]) != spec(value)) return {};
    const int64_t channels = spec(value).shape[-1];
    for (size_t p = 1; p < found->values.size(); ++p) {
      const Shape& shape = spec(found->values[p]).shape;
      if (shape.size() != channels || shape.rank() == 0 || shape[-1] != channels) return {};
    }
    return found;
  }

  bool join_forward(size_t index) {
    Instruction& i = program_.code[index];
    const auto* conv = i.op ? as<Conv>(*i.op) : nullptr;
    if (!conv ||
        !has_row_loops(conv->spec, spec(i.inputs[0]), spec(i.inputs[1]), spec(i.outputs[0])))
      return false;
    const auto input_normalization = normalization(i.inputs[0]);
    if (!input_normalization || !is_read_by(i.inputs[0], {&i})) return false;
    auto op = std::make_shared<DepthwiseForward>();
    op->spec = conv->spec, op->relu = input_normalization->relu,
    op->output = spec(i.outputs[0]).shape;
    producer(i.inputs[0])->op = nullptr;
    std::vector<int> inputs = input_normalization->values;
    inputs.push_back(i.inputs[1]);
    i.op = std::move(op), i.inputs = std::move(inputs);
    return true;
  }

  /// Joins the gradients of a depthwise convolution, and of the normalizations before and after it,
  /// into one instruction. It takes the place of instruction `index`, the last of those that are
  /// joined, which computes the sums of BatchNormSums. Returns false if `index` is no such
  /// instruction.
  bool join_gradients(size_t index) {
    Instruction& sums = program_.code[index];
    if (!sums.op || !as<BatchNormSums>(*sums.op)) return false;
    Instruction* data_gradient = producer(sums.inputs[1]);
    const auto* post_ops = data_gradient ? as<WithPostOps>(*data_gradient->op) : nullptr;
    const auto* data_op = post_ops ? as<ConvBackwardData>(*post_ops->op) : nullptr;
    if (!data_op || post_ops->post != std::vector{PostOp::mask}) return false;
    const int dy = data_gradient->inputs[0], kernel = data_gradient->inputs[1],
              normalized = data_gradient->inputs[2], dx = data_gradient->outputs[0];
    Instruction *dy_producer = producer(dy), *normalization_instruction = producer(normalized);
    const auto input_normalization = normalization(normalized);
    if (!dy_producer || !as<BatchNormGradient>(*dy_producer->op) || !input_normalization ||
        !input_normalization->relu ||
        !has_row_loops(data_op->spec, spec(dx), spec(kernel), spec(dy)))
      return false;
    Instruction* kernel_instruction = nullptr;
    for (Instruction& i : program_.code) {
      const auto* op = i.op ? as<ConvBackwardKernel>(*i.op) : nullptr;
      if (op && i.inputs == std::vector{normalized, dy} && op->spec == data_op->spec)
        kernel_instruction = &i;
    }
    if (!kernel_instruction || !is_read_by(dy, {data_gradient, kernel_instruction}) ||
        !is_read_by(normalized, {data_gradient, kernel_instruction}) ||
        kernel_instruction > &sums || !readers(kernel_instruction->outputs[0]).empty() ||
        readers(dx).size() != 1 || sums.inputs[0] != input_normalization->values[0] ||
        sums.inputs[2] != input_normalization->values[1])
      return false;
    auto op = std::make_shared<DepthwiseBackward>();
    op->spec = data_op->spec;
    std::vector<int> inputs = dy_producer->inputs;
    inputs.insert(inputs.end(), input_normalization->values.begin(),
                  input_normalization->values.end());
    inputs.push_back(kernel);
    std::vector<int> outputs = {kernel_instruction->outputs[0], dx, sums.outputs[0],
                                sums.outputs[1]};
    sums.op = std::move(op), sums.inputs = std::move(inputs), sums.outputs = std::move(outputs);
    for (Instruction* joined :
         {data_gradient, dy_producer, normalization_instruction, kernel_instruction})
      joined->op = nullptr;
    return true;
  }

  Program& program_;
};

}  // namespace

void join_depthwise(Program& program) { JoinedDepthwise(program).run(); }

}  // namespace crescent::cpu
