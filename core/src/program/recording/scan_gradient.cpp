// The gradient of a scan is a scan in the opposite direction. Its body is the gradient of the
// original body at the states that the forward scan kept.
#include <algorithm>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "program/recording/recorder.h"

namespace crescent {
namespace {

bool differentiable(const Program& program, int value) {
  return is_floating(program.values[value].dtype);
}

/// Splits the inputs and outputs of a scan into states, sequences and captured values.
struct ScanLayout {
  ScanLayout(const Scan& scan, const Vjp& v)
      : state_count(scan.states),
        sequence_count(scan.sequences),
        step_output_count(scan.body->outputs.size() - state_count),
        captured_count(v.inputs.size() - state_count - sequence_count) {}
  size_t state_count, sequence_count, step_output_count, captured_count;
};

class ScanGradient {
 public:
  ScanGradient(const Scan& scan, const Vjp& v)
      : scan_(scan), v_(v), layout_(scan, v), body_(*scan.body) {
    for (size_t i = 0; i < v.inputs.size(); ++i) {
      if (differentiable(body_, body_.inputs[i]))
        (is_carried(i) ? carried_inputs_ : sequence_inputs_).push_back(i);
    }
  }

  Tensors run() {
    saved_states_ = kept_states();
    Tensors states, sequences;
    for (size_t i : carried_inputs_) states.push_back(first_gradient(i));
    for (size_t o = 0; o < layout_.step_output_count; ++o) {
      if (const Tensor& g = v_.gradients[layout_.state_count + o])
        sequences.push_back(g), outputs_with_upstream_.push_back(o);
    }
    for (size_t s = 0; scan_.keep_states && s < layout_.state_count; ++s) {
      if (const Tensor& g = v_.gradients[layout_.state_count + layout_.step_output_count + s]) {
        sequences.push_back(g), kept_states_with_upstream_.push_back(s);
      }
    }
    sequences.insert(sequences.end(), saved_states_.begin(), saved_states_.end());
    for (size_t q = 0; q < layout_.sequence_count; ++q)
      sequences.push_back(v_.inputs[layout_.state_count + q]);
    if (sequences.empty()) return Tensors(v_.inputs.size());
    auto [input_gradients, outputs] =
        ops::scan([this](const Tensors& gradients,
                         const Tensors& step) { return step_back(gradients, step); },
                  states, sequences, !scan_.reverse);
    Tensors result(v_.inputs.size());
    for (size_t i = 0; i < carried_inputs_.size(); ++i)
      result[carried_inputs_[i]] = input_gradients[i];
    for (size_t i = 0; i < sequence_inputs_.size(); ++i) result[sequence_inputs_[i]] = outputs[i];
    return result;
  }

 private:
  /// Whether the gradient with respect to this input is carried from step to step, as for states
  /// and captured inputs. The gradient with respect to a sequence is an output of each step.
  bool is_carried(size_t input) const {
    return input < layout_.state_count || input >= layout_.state_count + layout_.sequence_count;
  }

  /// The states before every step, which are recomputed if the scan did not keep them.
  Tensors kept_states() const {
    if (scan_.keep_states) {
      return {v_.outputs.begin() +
                  static_cast<ptrdiff_t>(layout_.state_count + layout_.step_output_count),
              v_.outputs.end()};
    }
    Scan scan_with_states = scan_;
    scan_with_states.keep_states = true;
    Tensors outputs = crescent::apply(std::make_shared<const Scan>(scan_with_states), v_.inputs);
    return {
        outputs.begin() + static_cast<ptrdiff_t>(layout_.state_count + layout_.step_output_count),
        outputs.end()};
  }

  Tensor first_gradient(size_t input) const {
    if (input < layout_.state_count && v_.gradients[input]) return v_.gradients[input];
    return ops::zeros_like(v_.inputs[input]);
  }

  /// One step of the backward scan: computes the gradients of the carried inputs one time step
  /// earlier from those of the current step, and the gradients of the step inputs.
  ops::ScanResult step_back(const Tensors& gradients, const Tensors& step) const {
    const size_t output_count = outputs_with_upstream_.size(),
                 upstream_count = output_count + kept_states_with_upstream_.size();
    // `step` has the upstream gradients, the states and the step inputs.
    Tensors inputs(step.begin() + static_cast<ptrdiff_t>(upstream_count), step.end());
    inputs.insert(
        inputs.end(),
        v_.inputs.begin() + static_cast<ptrdiff_t>(layout_.state_count + layout_.sequence_count),
        v_.inputs.end());

    Tensors wanted_inputs, targets, upstream;
    GradientTape tape;
    for (const Tensor& input : inputs) {
      if (is_floating(input.dtype())) tape.watch(input);
    }
    const Tensors outputs = replay(body_, inputs);
    tape.stop();
    for (size_t i = 0; i < carried_inputs_.size() && carried_inputs_[i] < layout_.state_count;
         ++i) {
      targets.push_back(outputs[carried_inputs_[i]]), upstream.push_back(gradients[i]);
    }
    for (size_t i = 0; i < output_count; ++i)
      targets.push_back(outputs[layout_.state_count + outputs_with_upstream_[i]]),
          upstream.push_back(step[i]);
    const Tensors input_gradients = tape.gradient(targets, inputs, upstream);

    ops::ScanResult result;
    for (size_t i = 0; i < carried_inputs_.size(); ++i) {
      const Tensor& g = input_gradients[carried_inputs_[i]];
      const bool is_state = carried_inputs_[i] < layout_.state_count;
      if (is_state) {
        result.states.push_back(g ? g : ops::zeros_like(inputs[carried_inputs_[i]]));
      } else {
        result.states.push_back(g ? ops::add(gradients[i], g) : gradients[i]);
      }
    }
    for (size_t k = 0; k < kept_states_with_upstream_.size(); ++k) {
      const auto position =
          std::find(carried_inputs_.begin(), carried_inputs_.end(), kept_states_with_upstream_[k]) -
          carried_inputs_.begin();
      Tensor& sum = result.states[position];
      sum = ops::add(sum, step[output_count + k]);
    }
    for (size_t i : sequence_inputs_)
      result.outputs.push_back(input_gradients[i] ? input_gradients[i]
                                                  : ops::zeros_like(inputs[i]));
    return result;
  }

  const Scan& scan_;
  const Vjp& v_;
  ScanLayout layout_;
  const Program& body_;
  std::vector<size_t> carried_inputs_;   ///< indices of carried inputs that need gradients
  std::vector<size_t> sequence_inputs_;  ///< indices of sequences that need gradients
  /// Indices of step outputs that have an upstream gradient.
  std::vector<size_t> outputs_with_upstream_;
  /// Indices of states whose kept values have an upstream gradient, as in second-order gradients.
  std::vector<size_t> kept_states_with_upstream_;
  Tensors saved_states_;
};

}  // namespace

Tensors Scan::vjp(const Vjp& v) const { return ScanGradient(*this, v).run(); }

}  // namespace crescent
