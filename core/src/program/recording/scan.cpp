// Scan: runs a program for each time step. Its gradient is in scan_gradient.cpp.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "crescent/ops/ops.h"
#include "program/recording/recorder.h"
#include "program/recording/tape.h"

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
  return a.values == b.values && a.inputs == b.inputs && a.outputs == b.outputs &&
         same_code(a, b) && same_constants(a, b);
}

size_t program_hash(const Program& program) {
  size_t hash = program.values.size();
  for (const Program::Instruction& instruction : program.code) {
    detail::mix(hash, instruction.op->hash());
    for (int value : instruction.inputs) detail::mix(hash, static_cast<size_t>(value));
  }
  return hash;
}

Shape stacked_shape(int64_t steps, const Shape& step) { return Shape{steps}.concat(step); }

const TensorSpec& spec_of(const Program& program, int value) { return program.values[value]; }

}  // namespace

size_t Scan::hash() const {
  size_t hash = program_hash(*body);
  for (int field : {states, sequences, int{reverse}, int{keep_states}})
    detail::mix(hash, static_cast<size_t>(field));
  return hash;
}

bool Scan::equals(const Op& other) const {
  auto* other_op = dynamic_cast<const Scan*>(&other);
  return other_op && states == other_op->states && sequences == other_op->sequences &&
         reverse == other_op->reverse && keep_states == other_op->keep_states &&
         (body == other_op->body || same_program(*body, *other_op->body));
}

/// The strongest effect of the body's ops. Checks count as no effect, because put_checks_first()
/// would move a scan with Effect::check to the front of the program.
Effect Scan::effect() const {
  Effect strongest_effect = Effect::none;
  for (const Program::Instruction& i : body->code)
    strongest_effect = std::max(strongest_effect, i.op->effect());
  return strongest_effect == Effect::check ? Effect::none : strongest_effect;
}

std::string Scan::text() const {
  return concat("scan(", states, " states, ", sequences, " sequences, ", body->code.size(),
                " instructions", reverse ? ", reverse)" : ")");
}

TensorSpecs Scan::infer(std::span<const TensorSpec> in) const {
  assert(in.size() == body->inputs.size());
  int64_t steps = -1;
  for (int q = 0; q < sequences; ++q) steps = std::max(steps, in[states + q].shape[0]);
  TensorSpecs result;
  for (size_t o = 0; o < body->outputs.size(); ++o) {
    const TensorSpec& spec = spec_of(*body, body->outputs[o]);
    result.push_back(o < static_cast<size_t>(states)
                         ? spec
                         : TensorSpec{spec.dtype, stacked_shape(steps, spec.shape)});
  }
  for (int s = 0; keep_states && s < states; ++s) {
    const TensorSpec& spec = in[s];
    result.push_back({spec.dtype, stacked_shape(steps, spec.shape)});
  }
  return result;
}

namespace {

void check_steps(const Tensors& sequences) {
  int64_t steps = -1;
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() == 0) fail("scan: a sequence needs a time axis, got a scalar");
    const int64_t n = sequence.dim(0);
    if (steps >= 0 && n >= 0 && n != steps)
      fail("scan: sequences have ", steps, " and ", n, " steps");
    steps = std::max(steps, n);
  }
}

void check_states(const Tensors& before, const Tensors& after) {
  if (before.size() != after.size())
    fail("scan: the body gave ", after.size(), " states for ", before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const bool matches_start =
        before[i].dtype() == after[i].dtype() && before[i].shape().compatible(after[i].shape());
    if (!matches_start)
      fail("scan: state ", i, " starts as ", before[i].spec(), ", the body gave ", after[i].spec());
  }
}

/// Records the body of a scan; returns the Scan and the tensors that the body captures.
std::pair<Scan, Tensors> record_body(const ops::ScanBody& body, const Tensors& states,
                                     const Tensors& sequences) {
  Recorder recorder(Recorder::Kind::scan_body);
  Tensors state_inputs, step_inputs;
  for (const Tensor& state : states) state_inputs.push_back(recorder.add_input(state.spec()));
  for (const Tensor& sequence : sequences) {
    step_inputs.push_back(
        recorder.add_input({sequence.dtype(), sequence.shape().slice(1, sequence.rank())}));
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

ops::ScanResult ops::scan(const ScanBody& body, const Tensors& states, const Tensors& sequences,
                          bool reverse) {
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
  const auto states_end = outputs.begin() + static_cast<ptrdiff_t>(states.size());
  return {{outputs.begin(), states_end},
          {states_end, states_end + static_cast<ptrdiff_t>(step_outputs)}};
}

}  // namespace crescent
