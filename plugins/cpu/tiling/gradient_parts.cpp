#include "tiling/gradient_parts.h"

#include <utility>

#include "normalization/batch_norm_parts.h"
#include "tiling/cut.h"

namespace crescent::cpu {
namespace {

using Instruction = Program::Instruction;

class GradientParts {
 public:
  explicit GradientParts(Program& program) : program_(program) {}

  void run() {
    const std::vector<Instruction> code = std::exchange(program_.code, {});
    for (const Instruction& i : code) {
      const bool is_large = i.op->name() == BatchNormBackward::kName &&
                            spec(i.inputs[0]).dtype == DType::float32 &&
                            spec(i.inputs[0]).bytes() >= kLargeBytes;
      is_large ? split_into_parts(i) : program_.code.push_back(i);
    }
  }

 private:
  const TensorSpec& spec(int value) const { return program_.values[value]; }

  void split_into_parts(const Instruction& i) {
    const int x = i.inputs[0], gamma = i.inputs[1], mean = i.inputs[2], variance = i.inputs[3],
              dy = i.inputs[4], dgamma = i.outputs[1], dbeta = i.outputs[2];
    auto factors = std::make_shared<BatchNormFactors>();
    factors->epsilon = static_cast<const BatchNormBackward&>(*i.op).epsilon;
    factors->rows = spec(x).shape.size() / spec(mean).shape.size();
    const TensorSpec channels = spec(mean);
    auto add_channels = [&] { return program_.add_value(channels); };
    const int product = add_channels(), scale = add_channels(), slope = add_channels(),
              offset = add_channels();
    auto add = [&](OpPtr op, std::vector<int> inputs, std::vector<int> outputs) {
      program_.code.push_back({std::move(op), std::move(inputs), std::move(outputs), i.scope});
    };
    add(std::make_shared<BatchNormSums>(), {x, dy, mean}, {dbeta, product});
    add(factors, {dbeta, product, gamma, variance}, {dgamma, scale, slope, offset});
    add(std::make_shared<BatchNormGradient>(), {x, dy, mean, scale, slope, offset}, {i.outputs[0]});
  }

  Program& program_;
};

}  // namespace

void split_batch_norm_gradients(Program& program) { GradientParts(program).run(); }

}  // namespace crescent::cpu
