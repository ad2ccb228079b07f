// Scan: a program run once a step over time. Its gradient is another scan, in the opposite direction, whose body is the
// gradient of the body at the states that the first scan kept.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "crescent/gradient.h"
#include "crescent/ops.h"
#include "program/recorder.h"
#include "program/tape.h"

namespace crescent {
namespace {

bool same_constants(const Program& a, const Program& b) {
  return std::equal(a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end(),
                    [](const Program::Constant& x, const Program::Constant& y) {
                      return x.value == y.value && x.tensor.spec() == y.tensor.spec() &&
                             std::memcmp(x.tensor.raw(), y.tensor.raw(), x.tensor.bytes()) == 0;
                    });
}

bool same_code(const Program& a, const Program& b) {
  return std::equal(a.code.begin(), a.code.end(), b.code.begin(), b.code.end(),
                    [](const Program::Instruction& x, const Program::Instruction& y) {
                      return x.inputs == y.inputs && x.outputs == y.outputs && x.op->equals(*y.op);
                    });
}

bool same_program(const Program& a, const Program& b) {
  return a.values == b.values && a.inputs == b.inputs && a.outputs == b.outputs && same_code(a, b) &&
         same_constants(a, b);
}

size_t program_hash(const Program& program) {
  size_t hash = program.values.size();
  for (const Program::Instruction& instruction : program.code) {
    detail::mix(hash, instruction.op->hash());
    for (int value : instruction.inputs) detail::mix(hash, static_cast<size_t>(value));
  }
  return hash;
}

Shape stacked(int64_t steps, const Shape& step) { return Shape{steps}.concat(step); }

bool differentiable(const TensorSpec& spec) { return is_floating(spec.dtype); }

const TensorSpec& spec_of(const Program& program, int value) { return program.values[static_cast<size_t>(value)]; }

/// What the gradient of a scan works with: the parts of its inputs and outputs.
struct Parts {
  Parts(const Scan& scan, const Vjp& v)
      : states(static_cast<size_t>(scan.states)), sequences(static_cast<size_t>(scan.sequences)),
        step_outputs(scan.body->outputs.size() - states), captured(v.inputs.size() - states - sequences) {}
  size_t states, sequences, step_outputs, captured;
};

class ScanGradient {
 public:
  ScanGradient(const Scan& scan, const Vjp& v) : scan_(scan), v_(v), parts_(scan, v), body_(*scan.body) {
    for (size_t i = 0; i < v.inputs.size(); ++i) {
      if (differentiable(spec_of(body_, body_.inputs[i]))) (is_carried(i) ? carried_ : given_).push_back(i);
    }
  }

  Tensors run() {
    kept_ = kept_states();
    Tensors states, sequences;
    for (size_t i : carried_) states.push_back(first_gradient(i));
    for (size_t o = 0; o < parts_.step_outputs; ++o) {
      if (const Tensor& g = v_.gradients[parts_.states + o]) sequences.push_back(g), upstream_.push_back(o);
    }
    for (size_t s = 0; scan_.keep_states && s < parts_.states; ++s) {
      if (const Tensor& g = v_.gradients[parts_.states + parts_.step_outputs + s]) {
        sequences.push_back(g), kept_upstream_.push_back(s);
      }
    }
    sequences.insert(sequences.end(), kept_.begin(), kept_.end());
    for (size_t q = 0; q < parts_.sequences; ++q) sequences.push_back(v_.inputs[parts_.states + q]);
    if (sequences.empty()) return Tensors(v_.inputs.size());
    auto [last, outputs] = ops::scan(
        [this](const Tensors& gradients, const Tensors& step) { return step_back(gradients, step); }, states, sequences,
        !scan_.reverse);
    Tensors result(v_.inputs.size());
    for (size_t i = 0; i < carried_.size(); ++i) result[carried_[i]] = last[i];
    for (size_t i = 0; i < given_.size(); ++i) result[given_[i]] = outputs[i];
    return result;
  }

 private:
  /// States and captured inputs: their gradients go from step to step. Those of sequences come out of every step.
  bool is_carried(size_t input) const { return input < parts_.states || input >= parts_.states + parts_.sequences; }

  /// The states before every step; computed again when the scan did not keep them.
  Tensors kept_states() const {
    if (scan_.keep_states) {
      return {v_.outputs.begin() + static_cast<ptrdiff_t>(parts_.states + parts_.step_outputs), v_.outputs.end()};
    }
    Scan again = scan_;
    again.keep_states = true;
    Tensors outputs = crescent::apply(std::make_shared<const Scan>(again), v_.inputs);
    return {outputs.begin() + static_cast<ptrdiff_t>(parts_.states + parts_.step_outputs), outputs.end()};
  }

  Tensor first_gradient(size_t input) const {
    if (input < parts_.states && v_.gradients[input]) return v_.gradients[input];
    return ops::zeros_like(v_.inputs[input]);
  }

  /// One step: gradients of the carried inputs and what the step was given -> the same one step earlier, gradients of
  /// x.
  ops::ScanResult step_back(const Tensors& gradients, const Tensors& step) const {
    const size_t ups = upstream_.size(), given = ups + kept_upstream_.size();
    Tensors inputs(step.begin() + static_cast<ptrdiff_t>(given), step.end());       // states, step inputs
    inputs.insert(inputs.end(), v_.inputs.begin() + static_cast<ptrdiff_t>(parts_.states + parts_.sequences),
                  v_.inputs.end());

    Tensors wanted, targets, upstream;
    GradientTape tape;
    for (const Tensor& input : inputs) {
      if (is_floating(input.dtype())) tape.watch(input);
    }
    const Tensors outputs = replay(body_, inputs);
    tape.stop();
    for (size_t i = 0; i < carried_.size() && carried_[i] < parts_.states; ++i) {
      targets.push_back(outputs[carried_[i]]), upstream.push_back(gradients[i]);
    }
    for (size_t i = 0; i < ups; ++i)
      targets.push_back(outputs[parts_.states + upstream_[i]]), upstream.push_back(step[i]);
    const Tensors found = tape.gradient(targets, inputs, upstream);

    ops::ScanResult result;
    for (size_t i = 0; i < carried_.size(); ++i) {
      const Tensor& g = found[carried_[i]];
      const bool is_state = carried_[i] < parts_.states;
      if (is_state) {
        result.states.push_back(g ? g : ops::zeros_like(inputs[carried_[i]]));
      } else {
        result.states.push_back(g ? ops::add(gradients[i], g) : gradients[i]);
      }
    }
    for (size_t k = 0; k < kept_upstream_.size(); ++k) {
      const auto at = std::find(carried_.begin(), carried_.end(), kept_upstream_[k]) - carried_.begin();
      Tensor& sum = result.states[static_cast<size_t>(at)];
      sum = ops::add(sum, step[ups + k]);
    }
    for (size_t i : given_) result.outputs.push_back(found[i] ? found[i] : ops::zeros_like(inputs[i]));
    return result;
  }

  const Scan& scan_;
  const Vjp& v_;
  Parts parts_;
  const Program& body_;
  std::vector<size_t> carried_, given_;    ///< differentiable inputs
  std::vector<size_t> upstream_;           ///< step outputs that have a gradient
  std::vector<size_t> kept_upstream_;      ///< states whose kept values have one (second order)
  Tensors kept_;
};

}  // namespace

size_t Scan::hash() const {
  size_t hash = program_hash(*body);
  for (int field : {states, sequences, int{reverse}, int{keep_states}}) detail::mix(hash, static_cast<size_t>(field));
  return hash;
}

bool Scan::equals(const Op& other) const {
  auto* same = dynamic_cast<const Scan*>(&other);
  return same && states == same->states && sequences == same->sequences && reverse == same->reverse &&
         keep_states == same->keep_states && (body == same->body || same_program(*body, *same->body));
}

std::string Scan::text() const {
  return concat("scan(", states, " states, ", sequences, " sequences, ", body->code.size(), " instructions",
                reverse ? ", reverse)" : ")");
}

TensorSpecs Scan::infer(std::span<const TensorSpec> in) const {
  assert(in.size() == body->inputs.size());
  int64_t steps = -1;
  for (int q = 0; q < sequences; ++q) steps = std::max(steps, in[static_cast<size_t>(states + q)].shape[0]);
  TensorSpecs out;
  for (size_t o = 0; o < body->outputs.size(); ++o) {
    const TensorSpec& spec = spec_of(*body, body->outputs[o]);
    out.push_back(o < static_cast<size_t>(states) ? spec : TensorSpec{spec.dtype, stacked(steps, spec.shape)});
  }
  for (int s = 0; keep_states && s < states; ++s) {
    const TensorSpec& spec = in[static_cast<size_t>(s)];
    out.push_back({spec.dtype, stacked(steps, spec.shape)});
  }
  return out;
}

Tensors Scan::vjp(const Vjp& v) const { return ScanGradient(*this, v).run(); }

namespace {

void check_steps(const Tensors& sequences) {
  int64_t steps = -1;
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() == 0) fail("scan: a sequence needs a time axis, got a scalar");
    const int64_t n = sequence.dim(0);
    if (steps >= 0 && n >= 0 && n != steps) fail("scan: sequences have ", steps, " and ", n, " steps");
    steps = std::max(steps, n);
  }
}

void check_states(const Tensors& before, const Tensors& after) {
  if (before.size() != after.size()) fail("scan: the body gave ", after.size(), " states for ", before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const bool fits = before[i].dtype() == after[i].dtype() && before[i].shape().compatible(after[i].shape());
    if (!fits) fail("scan: state ", i, " starts as ", before[i].spec(), ", the body gave ", after[i].spec());
  }
}

/// The body as an op, and the tensors that it takes from around.
std::pair<Scan, Tensors> record_body(const ops::ScanBody& body, const Tensors& states, const Tensors& sequences) {
  Recorder recorder(Recorder::Kind::scan_body);
  Tensors state_inputs, step_inputs;
  for (const Tensor& state : states) state_inputs.push_back(recorder.add_input(state.spec()));
  for (const Tensor& sequence : sequences) {
    step_inputs.push_back(recorder.add_input({sequence.dtype(), sequence.shape().slice(1, sequence.rank())}));
  }
  ops::ScanResult step = body(state_inputs, step_inputs);
  check_states(states, step.states);
  Tensors results = std::move(step.states);
  results.insert(results.end(), step.outputs.begin(), step.outputs.end());
  Scan scan;
  scan.body = std::make_shared<const Program>(recorder.finish(results));
  scan.states = static_cast<int>(states.size());
  scan.sequences = static_cast<int>(sequences.size());
  return {std::move(scan), recorder.captured()};
}

}  // namespace

ops::ScanResult ops::scan(const ScanBody& body, const Tensors& states, const Tensors& sequences, bool reverse) {
  if (sequences.empty()) fail("scan: expected at least one sequence to go along");
  check_steps(sequences);
  auto [scan, captured] = record_body(body, states, sequences);
  scan.reverse = reverse;
  scan.keep_states = tapes_are_active();
  const size_t step_outputs = scan.body->outputs.size() - states.size();

  Tensors inputs = states;
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  const Tensors outputs = crescent::apply(std::make_shared<const Scan>(std::move(scan)), inputs);
  const auto split = outputs.begin() + static_cast<ptrdiff_t>(states.size());
  return {{outputs.begin(), split}, {split, split + static_cast<ptrdiff_t>(step_outputs)}};
}

}  // namespace crescent
