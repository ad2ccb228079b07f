// The losses that a distillation loss applies to the outputs of its models.
#pragma once
#include <functional>

#include "crescent/layer/loss.h"

namespace crescent {

/// Losses nested as the outputs are. A leaf is the name of a loss, an object, or null for an output
/// without a loss.
struct LossStructure {
  Value losses;
};
CRESCENT_CODEC(LossStructure);

/// A leaf of a LossStructure. As in Keras, a name stands for the function of the loss.
struct OutputLoss {
  std::shared_ptr<Loss> loss;
  bool is_function = false;
  /// The mean over all samples.
  Tensor operator()(const Tensor& teacher, const Tensor& student) const;
};
using ComputeOutputLoss =
    std::function<Tensor(const OutputLoss& loss, const Tensor& teacher, const Tensor& student)>;

/// Whether there is a loss of any output.
bool has_loss(const Value& losses);
/// Fails if the losses are not nested as the outputs are.
void expect_same_nesting(const Value& losses, const Value& outputs);
/// Returns the sum of compute(loss, teacher, student) over the outputs that have a loss.
Tensor sum_of_losses(const LossStructure& structure, const Value& teacher_outputs,
                     const Value& student_outputs, const ComputeOutputLoss& compute);

}  // namespace crescent
