// Normalization: batch norm in training is decomposed into the moments of its input and elementwise
// ops, which fuse with what follows. A convolution computes the moments of its result while that is
// in the cache. float16 and bfloat16 are excluded, because they would need additional casts.
//
//   %3 = conv(%0, %1)                                  %3, %5, %6 = conv + moments(%0, %1)
//   %4, %5, %6 = batch_norm_train(%3, %2, ...)   ->    %7 = subtract(%3, %5)
//                                                      ...
//
// The gradient of batch norm with respect to its input sums to 0 in every channel, because the mean
// was subtracted. A bias before batch norm therefore has the gradient 0:
//
//   %4 = sum(batch_norm_backward(...))           ->    %4 = fill(0)
#include <numeric>
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"

namespace crescent::passes {
namespace {

constexpr Condition kAllButChannels{
    "over all axes but the last; the shape of the result is known",
    [](const Rewriting& r, const Match& m) {
      std::vector<int> all_but_channels(r.result(m.call(1)).shape.rank() - 1);
      std::iota(all_but_channels.begin(), all_but_channels.end(), 0);
      return m.op<Reduce>().axes == all_but_channels && r.result(m.call()).shape.is_known();
    }};

constexpr RewriteRule kNormalizationRules[] = {
    {"sum(batch_norm_backward(...))", "0", kAllButChannels, nullptr, Digits::rounded}};

class Normalization {
 public:
  explicit Normalization(Program& program)
      : program_(program), producer_(program.values.size(), -1) {}

  bool run() {
    const std::vector<Instruction> code = std::exchange(program_.code, {});
    for (const Instruction& i : code)
      is_faster_decomposed(i) ? replace_by_decomposition(i) : add(i);
    return program_.code.size() > code.size();
  }

 private:
  TensorSpec& spec(int value) { return program_.values[value]; }

  bool is_faster_decomposed(const Instruction& i) {
    return as<BatchNormTrain>(*i.op) && size_of(spec(i.inputs[0]).dtype) >= 4;
  }

  void add(Instruction instruction) {
    for (int value : instruction.outputs) producer_[value] = static_cast<int>(program_.code.size());
    program_.code.push_back(std::move(instruction));
  }

  /// Replaces the instruction by its decomposition.
  void replace_by_decomposition(const Instruction& instruction) {
    TensorSpecs specs;
    for (int value : instruction.inputs) specs.push_back(spec(value));
    const Program decomposition =
        trace([&](const Tensors& in) { return instruction.op->decompose(in); }, specs);
    std::vector<int> program_values(decomposition.values.size(), -1);
    auto map_values = [&](const std::vector<int>& values, const std::vector<int>& targets) {
      for (size_t i = 0; i < values.size(); ++i) program_values[values[i]] = targets[i];
    };
    map_values(decomposition.inputs, instruction.inputs),
        map_values(decomposition.outputs, instruction.outputs);
    for (size_t v = 0; v < program_values.size(); ++v) {
      if (program_values[v] < 0)
        program_values[v] = program_.add_value(decomposition.values[v]), producer_.push_back(-1);
    }
    for (const Program::Constant& c : decomposition.constants)
      program_.constants.push_back({program_values[c.value], c.tensor});
    for (Instruction i : decomposition.code) {
      for (auto* values : {&i.inputs, &i.outputs}) {
        for (int& value : *values) value = program_values[value];
      }
      i.scope = instruction.scope;
      if (!(as<BatchMoments>(*i.op) && merge_moments(i))) add(std::move(i));
    }
  }

  /// Makes the moments of a convolution's result additional results of the convolution.
  bool merge_moments(const Instruction& moments) {
    const int producer = producer_[moments.inputs[0]];
    if (producer < 0) return false;
    Instruction& producer_instruction = program_.code[producer];
    if (!as<Conv>(*base_of(producer_instruction.op)) || producer_instruction.outputs.size() > 1)
      return false;
    auto op = std::make_shared<WithPostOps>(with_post_ops(producer_instruction.op));
    op->post.push_back(PostOp::moments);
    producer_instruction.op = std::move(op);
    producer_instruction.outputs.insert(producer_instruction.outputs.end(), moments.outputs.begin(),
                                        moments.outputs.end());
    return true;
  }

  Program& program_;
  std::vector<int> producer_;  ///< indexed by value: the instruction that computes it, or -1
};

}  // namespace

const RuleTable& normalization_rules() {
  static const RuleTable table("normalization", kNormalizationRules);
  return table;
}

bool normalization(Program& program) {
  const bool changed = normalization_rules().rewrite(program);
  return Normalization(program).run() || changed;
}

}  // namespace crescent::passes
