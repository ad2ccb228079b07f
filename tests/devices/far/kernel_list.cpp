#include "kernel_list.h"

#include <chrono>
#include <cstring>

#include "crescent/device/lowering.h"

namespace crescent::far {
namespace {

size_t bytes_of(const TensorSpec& spec) { return static_cast<size_t>(spec.bytes()); }

/// The size rounded up to 64 bytes, so that the next value in the block is aligned.
size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A kernel that copies the inputs to the host, runs the op there and copies the results back.
Kernel host_kernel(const OpPtr& op, const TensorSpecs& in, const TensorSpecs& out, Traffic& traffic,
                   DeviceCounters& counters) {
  return [=, &traffic, &counters](const std::byte* const* x, std::byte* const* y) {
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
    ++counters.host_calls;
  };
}

/// A scan. Its body is compiled to a list of kernels of its own, which runs once per step. The last
/// output of the instruction is scratch memory: the memory block of the body, and two sets of
/// states.
class ScanKernel {
 public:
  ScanKernel(const Scan& scan, const TensorSpecs& in, const TensorSpecs& out, Traffic& traffic,
             DeviceCounters& counters)
      : body_(std::make_shared<KernelList>(*scan.body, traffic, counters)),
        states_(static_cast<size_t>(scan.states)),
        sequences_(static_cast<size_t>(scan.sequences)),
        stacks_(scan.body->outputs.size() - states_),
        reverse_(scan.reverse),
        keeps_states_(scan.keep_states) {
    const bool has_steps = sequences_ > 0 || stacks_ > 0;
    const Shape* stacked_shape = sequences_ > 0 ? &in[states_].shape : &out[states_].shape;
    steps_ = has_steps ? static_cast<size_t>((*stacked_shape)[0]) : 0;
    for (const TensorSpec& spec : scan.body->specs_of(scan.body->inputs))
      in_bytes_.push_back(bytes_of(spec));
    for (const TensorSpec& spec : scan.body->specs_of(scan.body->outputs))
      out_bytes_.push_back(bytes_of(spec));
    for (size_t s = 0; s < states_; ++s) state_bytes_ += aligned(in_bytes_[s]);
  }
  size_t scratch_bytes() const { return body_->block_bytes() + 2 * state_bytes_; }

  void operator()(const std::byte* const* x, std::byte* const* y) const {
    std::byte* block = y[states_ + stacks_ + (keeps_states_ ? states_ : 0)];
    std::byte *states = block + body_->block_bytes(), *next_states = states + state_bytes_;
    body_->put_constants(block);
    KernelList::Memory memory;
    for (size_t i = 0; i < in_bytes_.size(); ++i)
      memory.inputs.push_back(const_cast<std::byte*>(x[i]));
    memory.outputs.assign(out_bytes_.size(), nullptr);
    put_states(states, x);
    for (size_t i = 0; i < steps_; ++i, std::swap(states, next_states)) {
      const size_t t = reverse_ ? steps_ - 1 - i : i;
      for (size_t s = 0, at = 0; s < states_; at += aligned(in_bytes_[s++])) {
        memory.inputs[s] = states + at, memory.outputs[s] = next_states + at;
        if (keeps_states_)
          std::memcpy(y[states_ + stacks_ + s] + t * in_bytes_[s], states + at, in_bytes_[s]);
      }
      for (size_t q = states_; q < states_ + sequences_; ++q)
        memory.inputs[q] = const_cast<std::byte*>(x[q]) + t * in_bytes_[q];
      for (size_t o = states_; o < states_ + stacks_; ++o)
        memory.outputs[o] = y[o] + t * out_bytes_[o];
      body_->run(memory, block);
    }
    for (size_t s = 0, at = 0; s < states_; at += aligned(in_bytes_[s++]))
      std::memcpy(y[s], states + at, in_bytes_[s]);
  }

 private:
  void put_states(std::byte* to, const std::byte* const* x) const {
    for (size_t s = 0; s < states_; to += aligned(in_bytes_[s++]))
      std::memcpy(to, x[s], in_bytes_[s]);
  }

  std::shared_ptr<KernelList> body_;
  size_t states_, sequences_, stacks_, steps_ = 0, state_bytes_ = 0;
  bool reverse_, keeps_states_;
  std::vector<size_t> in_bytes_, out_bytes_;  ///< sizes of the body's inputs and outputs
};

}  // namespace

KernelList::KernelList(const Program& program, Traffic& traffic, DeviceCounters& counters)
    : locations_(program.values.size()) {
  for (size_t i = 0; i < program.inputs.size(); ++i)
    locations_[static_cast<size_t>(program.inputs[i])] = {ValueLocation::Kind::input, i};
  for (size_t i = 0; i < program.variables.size(); ++i)
    locations_[static_cast<size_t>(program.variables[i].value)] = {ValueLocation::Kind::variable,
                                                                   i};
  for (const Program::Constant& c : program.constants) {
    ValueLocation& location = locations_[static_cast<size_t>(c.value)] =
        add_block(c.tensor.bytes());
    constants_.emplace_back(location, c.tensor.to(nullptr));
    traffic.count_upload(c.tensor.bytes());
  }
  for (const Program::Instruction& i : program.code) add_step(program, i, traffic, counters);
  add_results(program);
}

KernelList::ValueLocation KernelList::add_block(size_t bytes) {
  const ValueLocation location{ValueLocation::Kind::block, block_bytes_};
  block_bytes_ += aligned(bytes);
  return location;
}

void KernelList::add_step(const Program& program, const Program::Instruction& i, Traffic& traffic,
                          DeviceCounters& counters) {
  const TensorSpecs in = program.specs_of(i.inputs), out = program.specs_of(i.outputs);
  if (as<Reshape>(*i.op)) {
    locations_[static_cast<size_t>(i.outputs[0])] = locations_[static_cast<size_t>(i.inputs[0])];
    return;
  }
  Step step;
  step.row.scope = program.scopes[static_cast<size_t>(i.scope)];
  step.row.op = i.op->label();
  step.row.kernel = "far";
  for (int value : i.inputs) step.in.push_back(locations_[static_cast<size_t>(value)]);
  for (size_t o = 0; o < out.size(); ++o) {
    step.out.push_back(add_block(bytes_of(out[o])));
    locations_[static_cast<size_t>(i.outputs[o])] = step.out.back();
  }
  if (auto* scan = as<Scan>(*i.op)) {
    ScanKernel kernel(*scan, in, out, traffic, counters);
    step.out.push_back(add_block(kernel.scratch_bytes()));
    step.kernel = std::move(kernel);
  } else if (as<HostCall>(*i.op)) {
    step.row.kernel = "host";
    step.kernel = host_kernel(i.op, in, out, traffic, counters);
  } else {
    step.kernel = make_kernel({*i.op, in, out});
  }
  if (!step.kernel) fail("far: ", i.op->text(), " was not lowered");
  steps_.push_back(std::move(step));
}

/// Adds the copies of results to the program's outputs and variables. A variable that takes the old
/// value of a second variable must be copied before the second one changes.
void KernelList::add_results(const Program& program) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const size_t value = static_cast<size_t>(program.outputs[i]);
    outputs_.push_back({locations_[value], i, bytes_of(program.values[value])});
  }
  for (size_t i = 0; i < program.variables.size(); ++i) {
    if (program.variables[i].result < 0) continue;
    const size_t value = static_cast<size_t>(program.variables[i].result);
    const size_t bytes = bytes_of(program.values[value]);
    ValueLocation from = locations_[value];
    if (from.kind == ValueLocation::Kind::variable) {
      const ValueLocation copy_location = add_block(bytes);
      old_values_.push_back({from, copy_location.at, bytes});
      from = copy_location;
    }
    variables_.push_back({from, i, bytes});
  }
}

void KernelList::put_constants(std::byte* block) const {
  for (const auto& [location, tensor] : constants_)
    std::memcpy(block + location.at, tensor.raw(), tensor.bytes());
}

std::byte* KernelList::find(const ValueLocation& location, const Memory& memory, std::byte* block) {
  if (location.kind == ValueLocation::Kind::block) return block + location.at;
  return (location.kind == ValueLocation::Kind::input ? memory.inputs
                                                      : memory.variables)[location.at];
}

void KernelList::run(const Memory& memory, std::byte* block) {
  using Clock = std::chrono::steady_clock;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (Step& step : steps_) {
    in.clear(), out.clear();
    for (const ValueLocation& location : step.in) in.push_back(find(location, memory, block));
    for (const ValueLocation& location : step.out) out.push_back(find(location, memory, block));
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
  for (const Copy& c : old_values_) std::memcpy(block + c.to, find(c.from, memory, block), c.bytes);
  for (const Copy& c : outputs_)
    std::memcpy(memory.outputs[c.to], find(c.from, memory, block), c.bytes);
  for (const Copy& c : variables_)
    std::memcpy(memory.variables[c.to], find(c.from, memory, block), c.bytes);
}

void KernelList::profile(bool on) {
  profiling_ = on;
  for (Step& step : steps_) {
    if (on) step.row.calls = 0, step.row.seconds = 0;
  }
}

std::vector<ProfileEntry> KernelList::rows() const {
  std::vector<ProfileEntry> rows;
  for (const Step& step : steps_) rows.push_back(step.row);
  return rows;
}

}  // namespace crescent::far
