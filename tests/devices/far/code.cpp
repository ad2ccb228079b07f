#include "code.h"

#include <chrono>
#include <cstring>

#include "crescent/device/lowering.h"

namespace crescent::far {
namespace {

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype);
}

/// The size rounded up to 64 bytes, so that the next value in the block is aligned.
size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

TensorSpecs specs_of(const Program& program, const std::vector<int>& values) {
  TensorSpecs specs;
  for (int value : values) specs.push_back(program.values[static_cast<size_t>(value)]);
  return specs;
}

/// A kernel that copies the inputs to the host, runs the op there and copies the results back.
Kernel host_kernel(const OpPtr& op, const TensorSpecs& in, const TensorSpecs& out, Traffic& traffic,
                   Facts& facts) {
  return [=, &traffic, &facts](const std::byte* const* x, std::byte* const* y) {
    Tensors inputs, outputs;
    for (size_t i = 0; i < in.size(); ++i) {
      inputs.push_back(Tensor::from_bytes(x[i], bytes_of(in[i]), in[i]));
      traffic.count_download(bytes_of(in[i]));
    }
    for (const TensorSpec& spec : out) outputs.push_back(Tensor::uninitialized(spec));
    static_cast<const HostCall&>(*op).run(inputs, outputs);
    for (size_t i = 0; i < out.size(); ++i) {
      std::memcpy(y[i], outputs[i].raw(), bytes_of(out[i]));
      traffic.count_upload(bytes_of(out[i]));
    }
    ++facts.host_calls;
  };
}

/// A scan. Its body is compiled to code of its own, which runs once per step. The last output of
/// the instruction is scratch memory: the block of the body, and two sets of states.
class ScanKernel {
 public:
  ScanKernel(const Scan& scan, const TensorSpecs& in, const TensorSpecs& out, Traffic& traffic,
             Facts& facts)
      : body_(std::make_shared<Code>(*scan.body, traffic, facts)),
        states_(static_cast<size_t>(scan.states)),
        sequences_(static_cast<size_t>(scan.sequences)),
        stacks_(scan.body->outputs.size() - states_),
        reverse_(scan.reverse),
        keep_(scan.keep_states) {
    const bool has_steps = sequences_ > 0 || stacks_ > 0;
    const Shape* stacked = sequences_ > 0 ? &in[states_].shape : &out[states_].shape;
    steps_ = has_steps ? static_cast<size_t>((*stacked)[0]) : 0;
    for (const TensorSpec& spec : specs_of(*scan.body, scan.body->inputs))
      in_bytes_.push_back(bytes_of(spec));
    for (const TensorSpec& spec : specs_of(*scan.body, scan.body->outputs))
      out_bytes_.push_back(bytes_of(spec));
    for (size_t s = 0; s < states_; ++s) state_bytes_ += aligned(in_bytes_[s]);
  }
  size_t scratch_bytes() const { return body_->block_bytes() + 2 * state_bytes_; }

  void operator()(const std::byte* const* x, std::byte* const* y) const {
    std::byte* block = y[states_ + stacks_ + (keep_ ? states_ : 0)];
    std::byte *now = block + body_->block_bytes(), *next = now + state_bytes_;
    body_->put_constants(block);
    Code::Memory memory;
    for (size_t i = 0; i < in_bytes_.size(); ++i)
      memory.inputs.push_back(const_cast<std::byte*>(x[i]));
    memory.outputs.assign(out_bytes_.size(), nullptr);
    put_states(now, x);
    for (size_t i = 0; i < steps_; ++i, std::swap(now, next)) {
      const size_t t = reverse_ ? steps_ - 1 - i : i;
      for (size_t s = 0, at = 0; s < states_; at += aligned(in_bytes_[s++])) {
        memory.inputs[s] = now + at, memory.outputs[s] = next + at;
        if (keep_) std::memcpy(y[states_ + stacks_ + s] + t * in_bytes_[s], now + at, in_bytes_[s]);
      }
      for (size_t q = states_; q < states_ + sequences_; ++q)
        memory.inputs[q] = const_cast<std::byte*>(x[q]) + t * in_bytes_[q];
      for (size_t o = states_; o < states_ + stacks_; ++o)
        memory.outputs[o] = y[o] + t * out_bytes_[o];
      body_->run(memory, block);
    }
    for (size_t s = 0, at = 0; s < states_; at += aligned(in_bytes_[s++]))
      std::memcpy(y[s], now + at, in_bytes_[s]);
  }

 private:
  void put_states(std::byte* to, const std::byte* const* x) const {
    for (size_t s = 0; s < states_; to += aligned(in_bytes_[s++]))
      std::memcpy(to, x[s], in_bytes_[s]);
  }

  std::shared_ptr<Code> body_;
  size_t states_, sequences_, stacks_, steps_ = 0, state_bytes_ = 0;
  bool reverse_, keep_;
  std::vector<size_t> in_bytes_, out_bytes_;  ///< sizes of the body's inputs and outputs
};

}  // namespace

Code::Code(const Program& program, Traffic& traffic, Facts& facts)
    : places_(program.values.size()) {
  for (size_t i = 0; i < program.inputs.size(); ++i)
    places_[static_cast<size_t>(program.inputs[i])] = {Place::Kind::input, i};
  for (size_t i = 0; i < program.variables.size(); ++i)
    places_[static_cast<size_t>(program.variables[i].value)] = {Place::Kind::variable, i};
  for (const Program::Constant& c : program.constants) {
    Place& place = places_[static_cast<size_t>(c.value)] = add_block(c.tensor.bytes());
    constants_.emplace_back(place, c.tensor.to(nullptr));
    traffic.count_upload(c.tensor.bytes());
  }
  for (const Program::Instruction& i : program.code) add_step(program, i, traffic, facts);
  add_results(program);
}

Code::Place Code::add_block(size_t bytes) {
  const Place place{Place::Kind::block, block_bytes_};
  block_bytes_ += aligned(bytes);
  return place;
}

void Code::add_step(const Program& program, const Program::Instruction& i, Traffic& traffic,
                    Facts& facts) {
  const TensorSpecs in = specs_of(program, i.inputs), out = specs_of(program, i.outputs);
  if (as<Reshape>(*i.op)) {
    places_[static_cast<size_t>(i.outputs[0])] = places_[static_cast<size_t>(i.inputs[0])];
    return;
  }
  Step step;
  step.row.scope = program.scopes[static_cast<size_t>(i.scope)];
  step.row.op = i.op->label();
  step.row.kernel = "far";
  for (int value : i.inputs) step.in.push_back(places_[static_cast<size_t>(value)]);
  for (size_t o = 0; o < out.size(); ++o) {
    step.out.push_back(add_block(bytes_of(out[o])));
    places_[static_cast<size_t>(i.outputs[o])] = step.out.back();
  }
  if (auto* scan = as<Scan>(*i.op)) {
    ScanKernel kernel(*scan, in, out, traffic, facts);
    step.out.push_back(add_block(kernel.scratch_bytes()));
    step.kernel = std::move(kernel);
  } else if (as<HostCall>(*i.op)) {
    step.row.kernel = "host";
    step.kernel = host_kernel(i.op, in, out, traffic, facts);
  } else {
    step.kernel = make_kernel({*i.op, in, out});
  }
  if (!step.kernel) fail("far: ", i.op->text(), " was not lowered");
  steps_.push_back(std::move(step));
}

/// Adds the copies of outputs and variables. A variable that takes the old value of a second
/// variable must be copied before the second one changes.
void Code::add_results(const Program& program) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const size_t value = static_cast<size_t>(program.outputs[i]);
    outputs_.push_back({places_[value], i, bytes_of(program.values[value])});
  }
  for (size_t i = 0; i < program.variables.size(); ++i) {
    if (program.variables[i].result < 0) continue;
    const size_t value = static_cast<size_t>(program.variables[i].result);
    const size_t bytes = bytes_of(program.values[value]);
    Place from = places_[value];
    if (from.kind == Place::Kind::variable) {
      const Place kept = add_block(bytes);
      kept_.push_back({from, kept.at, bytes});
      from = kept;
    }
    variables_.push_back({from, i, bytes});
  }
}

void Code::put_constants(std::byte* block) const {
  for (const auto& [place, tensor] : constants_)
    std::memcpy(block + place.at, tensor.raw(), tensor.bytes());
}

std::byte* Code::find(const Place& place, const Memory& memory, std::byte* block) {
  if (place.kind == Place::Kind::block) return block + place.at;
  return (place.kind == Place::Kind::input ? memory.inputs : memory.variables)[place.at];
}

void Code::run(const Memory& memory, std::byte* block) {
  using Clock = std::chrono::steady_clock;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (Step& step : steps_) {
    in.clear(), out.clear();
    for (const Place& place : step.in) in.push_back(find(place, memory, block));
    for (const Place& place : step.out) out.push_back(find(place, memory, block));
    const auto begin = Clock::now();
    try {
      step.kernel(in.data(), out.data());
    } catch (DataError& error) {
      if (!step.row.scope.empty()) error.add_context(step.row.scope + ": ");
      throw;
    }
    if (!profiling_) continue;
    step.row.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    ++step.row.calls;
  }
  for (const Copy& c : kept_) std::memcpy(block + c.to, find(c.from, memory, block), c.bytes);
  for (const Copy& c : outputs_)
    std::memcpy(memory.outputs[c.to], find(c.from, memory, block), c.bytes);
  for (const Copy& c : variables_)
    std::memcpy(memory.variables[c.to], find(c.from, memory, block), c.bytes);
}

void Code::profile(bool on) {
  profiling_ = on;
  for (Step& step : steps_) {
    if (on) step.row.calls = 0, step.row.seconds = 0;
  }
}

std::vector<ProfileEntry> Code::rows() const {
  std::vector<ProfileEntry> rows;
  for (const Step& step : steps_) rows.push_back(step.row);
  return rows;
}

}  // namespace crescent::far
