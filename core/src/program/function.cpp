// Function: one executable per signature, and the reuse of output memory.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "crescent/device/lowering.h"
#include "program/program_cache.h"
#include "program/recorder.h"
#include "program/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace detail {

/// The tensors of one output; a tensor that no caller holds any more is reused.
class OutputSlot {
 public:
  OutputSlot(const TensorSpec& spec, Memory* memory) : spec_(spec), memory_(memory) {}
  const Tensor& next() {
    for (Tensor& tensor : tensors_) {
      if (!tensor) return tensor = Tensor::uninitialized(spec_, memory_);
      if (is_unshared(tensor) && memory_of(tensor) == memory_) return tensor;
    }
    oldest_ = (oldest_ + 1) % tensors_.size();
    return tensors_[oldest_] = Tensor::uninitialized(spec_, memory_);
  }
  void release() { tensors_.fill(Tensor()); }

 private:
  TensorSpec spec_;
  Memory* memory_;
  std::array<Tensor, 3> tensors_;  // one that the caller holds, one for the current call, one spare
  size_t oldest_ = 0;
};

/// The program of one signature on one device.
class Compiled final : public CachedProgram {
 public:
  Compiled(const Function::Body& body, std::span<const Tensor> inputs, int64_t key,
           const OptimizeOptions& options, Device& device)
      : key_(key), device_(device), memory_(device.memory()) {
    for (const Tensor& input : inputs) specs_.push_back(input.spec());
    Program program = optimize(trace(body, specs_, holds_), options);
    executable = compile(program, device);
    bindings_ = program.variables;
    variables_.resize(bindings_.size());
    for (int value : program.outputs) slots_.emplace_back(program.values[value], memory_);
    results_.resize(slots_.size());
  }

  bool is_for(const Device& device, std::span<const Tensor> inputs, int64_t key) const {
    return key == key_ && &device == &device_ &&
           std::equal(specs_.begin(), specs_.end(), inputs.begin(), inputs.end(),
                      [](const TensorSpec& spec, const Tensor& t) { return spec == t.spec(); });
  }
  size_t bytes() const override {
    constexpr size_t kEach = 160;  // estimate of the other memory per tensor
    return sizeof *this + kEach * (specs_.size() + bindings_.size() + slots_.size()) +
           executable->bytes();
  }

  void run(std::span<const Tensor> inputs, Tensors& outputs) {
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const Variable& variable = bindings_[i].variable;
      if (bindings_[i].result >= 0) Transaction::before_change(variable);
      variables_[i] = bindings_[i].result >= 0 ? variable.writable_value(memory_)
                                               : variable.device_value(memory_);
    }
    for (size_t i = 0; i < slots_.size(); ++i) results_[i] = slots_[i].next();
    struct Release {  // drops these handles, so that the caller's are the only ones
      Compiled& self;
      ~Release() {
        std::fill(self.variables_.begin(), self.variables_.end(), Tensor());
        std::fill(self.results_.begin(), self.results_.end(), Tensor());
        self.brought_.clear();
      }
    } release{*this};
    executable->run(memory_ ? bring(inputs) : inputs, variables_, results_);
    outputs.resize(slots_.size());
    for (size_t i = 0; i < slots_.size(); ++i) outputs[i] = results_[i];
  }

  /// Frees the memory of results when another signature is called.
  void release_results() {
    for (OutputSlot& slot : slots_) slot.release();
  }

  std::unique_ptr<Executable> executable;

 private:
  std::span<const Tensor> bring(std::span<const Tensor> inputs) {
    for (const Tensor& input : inputs) brought_.push_back(input.to(memory_));
    return brought_;
  }

  int64_t key_;
  const Device& device_;
  Memory* memory_;
  TensorSpecs specs_;
  std::vector<StorageHold> holds_;
  std::vector<Program::Binding> bindings_;
  /// Tensors of the current run; members, so that a run does not allocate.
  Tensors brought_, variables_, results_;
  std::vector<OutputSlot> slots_;
};

size_t hash_of(std::span<const Tensor> inputs, int64_t key) {
  size_t hash = key;
  for (const Tensor& input : inputs) mix(hash, input.spec());
  return hash;
}

}  // namespace detail

using detail::Compiled;

namespace {
std::atomic<uint64_t> retracings = 0;
}

struct Function::State {
  Body body;
  OptimizeOptions options;
  std::recursive_mutex mutex;  // recursive, because a body that is traced may call other functions
  ProgramTable compiled;
  std::weak_ptr<Compiled> latest;  ///< the program of the latest call
  uint64_t age = 0;                ///< number of retracings when the programs were compiled

  void forget() {
    compiled.clear();
    latest.reset();
  }

  std::shared_ptr<Compiled> find(std::span<const Tensor> inputs, int64_t key) {
    Device& device = crescent::device();
    if (const uint64_t now = retracings.load(std::memory_order_relaxed); now != age) {
      forget();
      age = now;
    }
    std::shared_ptr<Compiled> previous = latest.lock();
    if (previous && previous->is_for(device, inputs, key)) return previous->touch(), previous;
    if (previous) previous->release_results();
    const size_t hash = detail::hash_of(inputs, key);
    const auto found = compiled.find_or_make<Compiled>(
        hash, [&](const Compiled& program) { return program.is_for(device, inputs, key); },
        [&] { return std::make_shared<Compiled>(body, inputs, key, options, device); });
    latest = found;
    return found;
  }

  /// Whether the body itself runs: within a trace, under a tape, or on abstract tensors.
  static bool is_inlined(std::span<const Tensor> inputs) {
    return is_tracing() || tapes_are_active() ||
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
  std::lock_guard lock(state_->mutex);
  state_->find(inputs, key)->run(inputs, outputs);
}

std::shared_ptr<Executable> Function::executable(std::span<const Tensor> inputs,
                                                 int64_t key) const {
  std::lock_guard lock(state_->mutex);
  auto compiled = state_->find(inputs, key);
  return {compiled, compiled->executable.get()};
}

void Function::clear() const {
  std::lock_guard lock(state_->mutex);
  state_->forget();
}

void retrace_functions() { ++retracings; }

size_t Function::signatures() const {
  std::lock_guard lock(state_->mutex);
  return state_->compiled.size();
}

}  // namespace crescent
