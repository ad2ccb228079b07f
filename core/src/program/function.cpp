// Function: compiles an executable for each signature and reuses the memory of outputs. Several
// threads run a program at once, each in its own frame, unless the program writes variables or has
// other effects.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/readers_writer_lock.h"
#include "crescent/device/lowering.h"
#include "program/caller_entrance.h"
#include "program/observed_computation.h"
#include "program/program_cache.h"
#include "program/recording/recorder.h"
#include "program/recording/stateless.h"
#include "program/recording/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace detail {

/// The tensors of one output of a program; a tensor that no caller holds any more is reused.
class OutputSlot {
 public:
  OutputSlot(const TensorSpec& spec, Memory* memory) : spec_(spec), memory_(memory) {}
  const Tensor& next() {
    for (Tensor& tensor : tensors_) {
      if (!tensor) return tensor = Tensor::uninitialized(spec_, memory_);
      if (is_unshared(tensor) && memory_of(tensor) == memory_) return tensor;
    }
    oldest_index_ = (oldest_index_ + 1) % tensors_.size();
    return tensors_[oldest_index_] = Tensor::uninitialized(spec_, memory_);
  }
  void release() { tensors_.fill(Tensor()); }

 private:
  TensorSpec spec_;
  Memory* memory_;
  // a tensor that the caller holds, one for the current call, and one in reserve
  std::array<Tensor, 3> tensors_;
  size_t oldest_index_ = 0;
};

/// The working memory of one run of a program, reused so that runs do not allocate.
struct RunFrame {
  Tensors device_inputs, variables, results;
  std::vector<OutputSlot> output_slots;
  std::atomic<bool> is_in_use{false};

  /// Releases the tensors of a run, so that only the handles of the caller remain.
  void drop_tensors() {
    std::fill(variables.begin(), variables.end(), Tensor());
    std::fill(results.begin(), results.end(), Tensor());
    device_inputs.clear();
  }
};

/// The program of one signature on one device.
class CompiledSignature final : public CachedProgram {
 public:
  CompiledSignature(const Function::Body& body, std::span<const Tensor> inputs, int64_t key,
                    const OptimizeOptions& options, Device& device)
      : key_(key), device_(device), memory_(device.memory()), specs_(specs_of(inputs)) {
    Program program = optimize(trace(body, specs_, holds_), options);
    executable = compile(program, device);
    bindings_ = program.variables;
    has_effects_ = std::any_of(bindings_.begin(), bindings_.end(),
                               [](const auto& binding) { return binding.result >= 0; }) ||
                   std::any_of(program.code.begin(), program.code.end(),
                               [](const auto& i) { return i.op->effect() >= Effect::state; });
    output_specs_ = program.specs_of(program.outputs);
  }

  bool is_for(const Device& device, std::span<const Tensor> inputs, int64_t key) const {
    return key == key_ && &device == &device_ &&
           std::equal(specs_.begin(), specs_.end(), inputs.begin(), inputs.end(),
                      [](const TensorSpec& spec, const Tensor& t) { return spec == t.spec(); });
  }
  size_t bytes() const override {
    constexpr size_t kTensorBytes = 160;  // estimated further bytes for each tensor
    return sizeof *this + kTensorBytes * (specs_.size() + bindings_.size() + output_specs_.size()) +
           executable->bytes();
  }

  bool has_effects() const { return has_effects_; }

  /// Gives one run a frame of the program. The constructor takes a free frame and reads the
  /// variables into it; the caller must hold the lock that lock_entry() returns. The destructor
  /// makes the frame free again.
  class FrameLease {
   public:
    explicit FrameLease(CompiledSignature& program)
        : program_(program), frame_(program.take_frame()) {
      program_.read_variables(frame_.variables);
    }
    ~FrameLease() {
      frame_.drop_tensors();
      frame_.is_in_use.store(false, std::memory_order_release);
    }
    FrameLease(const FrameLease&) = delete;
    void run(std::span<const Tensor> inputs, Tensors& outputs) {
      const ObservedComputation observed_computation(program_.bindings_);
      program_.run(frame_, inputs, outputs);
    }

   private:
    CompiledSignature& program_;
    RunFrame& frame_;
  };

  /// Frees the memory for results of finished runs. Called when a program of another signature
  /// runs.
  void release_results() {
    for (const auto& frame : frames_) {
      if (frame->is_in_use.load(std::memory_order_acquire)) continue;
      for (OutputSlot& slot : frame->output_slots) slot.release();
    }
  }

  std::unique_ptr<Executable> executable;

 private:
  RunFrame& take_frame() {
    for (const auto& frame : frames_) {
      if (frame->is_in_use.load(std::memory_order_acquire)) continue;
      frame->is_in_use.store(true, std::memory_order_relaxed);
      return *frame;
    }
    RunFrame& frame = *frames_.emplace_back(std::make_unique<RunFrame>());
    frame.is_in_use = true;
    frame.variables.resize(bindings_.size());
    frame.results.resize(output_specs_.size());
    for (const TensorSpec& spec : output_specs_) frame.output_slots.emplace_back(spec, memory_);
    return frame;
  }
  void read_variables(Tensors& values) const {
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const Variable& variable = bindings_[i].variable;
      if (bindings_[i].result >= 0) Transaction::before_change(variable);
      values[i] = bindings_[i].result >= 0 ? variable.writable_value(memory_)
                                           : variable.device_value(memory_);
    }
  }
  void run(RunFrame& frame, std::span<const Tensor> inputs, Tensors& outputs) {
    for (size_t i = 0; i < output_specs_.size(); ++i)
      frame.results[i] = frame.output_slots[i].next();
    executable->run(memory_ ? move_to_device(frame, inputs) : inputs, frame.variables,
                    frame.results);
    outputs.resize(output_specs_.size());
    for (size_t i = 0; i < output_specs_.size(); ++i) outputs[i] = frame.results[i];
  }
  std::span<const Tensor> move_to_device(RunFrame& frame, std::span<const Tensor> inputs) const {
    for (const Tensor& input : inputs) frame.device_inputs.push_back(input.to(memory_));
    return frame.device_inputs;
  }

  int64_t key_;  ///< distinguishes programs with equal specs, see Function
  const Device& device_;
  Memory* memory_;
  TensorSpecs specs_, output_specs_;
  std::vector<StorageHold> holds_;
  std::vector<Program::Binding> bindings_;
  /// whether a run has effects besides its outputs, such as writing variables
  bool has_effects_ = false;
  /// the frames of the program; their number is the largest number of simultaneous runs so far
  std::vector<std::unique_ptr<RunFrame>> frames_;
};

size_t hash_of(std::span<const Tensor> inputs, int64_t key) {
  size_t hash = key;
  for (const Tensor& input : inputs) mix(hash, input.spec());
  return hash;
}

}  // namespace detail

using detail::CompiledSignature;

namespace {
std::atomic<uint64_t> retracing_count = 0;
}

struct Function::State {
  Body body;
  OptimizeOptions options;
  ReadersWriterLock lock;  ///< readers are runs without effects
  ProgramTable compiled_programs;
  std::weak_ptr<CompiledSignature> latest_program;  ///< the program of the latest call
  uint64_t retrace_count = 0;  ///< retrace count for which the programs were compiled

  std::unique_lock<ReadersWriterLock> lock_entry() {
    if (lock.is_reader_thread()) fail("a function was called by what it computes itself");
    return std::unique_lock(lock);
  }

  void drop_programs() {
    compiled_programs.clear();
    latest_program.reset();
  }

  std::shared_ptr<CompiledSignature> find(std::span<const Tensor> inputs, int64_t key) {
    Device& device = crescent::device();
    if (const uint64_t current_count = retracing_count.load(std::memory_order_relaxed);
        current_count != retrace_count) {
      drop_programs();
      retrace_count = current_count;
    }
    std::shared_ptr<CompiledSignature> previous_program = latest_program.lock();
    if (previous_program && previous_program->is_for(device, inputs, key))
      return previous_program->touch(), previous_program;
    if (previous_program) previous_program->release_results();
    const size_t hash = detail::hash_of(inputs, key);
    const auto signature = compiled_programs.find_or_make<CompiledSignature>(
        hash, [&](const CompiledSignature& program) { return program.is_for(device, inputs, key); },
        [&] { return std::make_shared<CompiledSignature>(body, inputs, key, options, device); });
    latest_program = signature;
    return signature;
  }

  /// Whether a call runs the body directly: within a trace, under a tape, in a StatelessScope, or
  /// on abstract tensors.
  static bool is_inlined(std::span<const Tensor> inputs) {
    return is_tracing() || tapes_are_active() || StatelessAccess::current() ||
           std::any_of(inputs.begin(), inputs.end(),
                       [](const Tensor& t) { return t && !record_of(t).storage; });
  }
};

Function::Function(Body body, OptimizeOptions options) : state_(std::make_shared<State>()) {
  state_->body = std::move(body);
  state_->options = options;
}

Tensors Function::operator()(const Tensors& inputs, int64_t key) const {
  Tensors outputs;
  call(inputs, outputs, key);
  return outputs;
}

void Function::call(std::span<const Tensor> inputs, Tensors& outputs, int64_t key) const {
  if (State::is_inlined(inputs)) {
    outputs = state_->body(Tensors(inputs.begin(), inputs.end()));
    return;
  }
  const TransferredLock transferred_lock;
  std::unique_lock entry_lock = state_->lock_entry();
  const std::shared_ptr<CompiledSignature> compiled_program = state_->find(inputs, key);
  if (compiled_program->has_effects()) {
    state_->lock.wait_for_readers();
    CompiledSignature::FrameLease frame(*compiled_program);
    transferred_lock.unlock();
    return frame.run(inputs, outputs);
  }
  const ReadersWriterLock::ReadScope read_scope(state_->lock);
  CompiledSignature::FrameLease frame(*compiled_program);
  entry_lock.unlock();
  transferred_lock.unlock();
  frame.run(inputs, outputs);
}

std::shared_ptr<Executable> Function::executable(std::span<const Tensor> inputs,
                                                 int64_t key) const {
  const std::unique_lock entry_lock = state_->lock_entry();
  auto compiled_program = state_->find(inputs, key);
  return {compiled_program, compiled_program->executable.get()};
}

void Function::clear() const {
  const std::unique_lock entry_lock = state_->lock_entry();
  state_->drop_programs();
}

void retrace_functions() { ++retracing_count; }

size_t Function::signatures() const {
  const std::unique_lock entry_lock = state_->lock_entry();
  return state_->compiled_programs.size();
}

}  // namespace crescent
