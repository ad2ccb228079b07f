// Function: one executable per signature, and the memory of its outputs.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "crescent/lowering.h"
#include "program/recorder.h"
#include "program/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace {

/// Tensors for one output: those that nobody holds any more are used again.
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

 private:
  TensorSpec spec_;
  Memory* memory_;
  std::array<Tensor, 3>
      tensors_;  // one that the caller has, one that it is about to get, one to spare
  size_t oldest_ = 0;
};

/// The compiled form for one signature on one device.
class Compiled {
 public:
  Compiled(const Function::Body& body, std::span<const Tensor> inputs,
           const OptimizeOptions& options, Device& on)
      : device(on), memory_(on.memory()) {
    for (const Tensor& input : inputs) specs.push_back(input.spec());
    Program program = optimize(trace(body, specs), options);
    executable = compile(program, device);
    bindings_ = program.variables;
    variables_.resize(bindings_.size());
    for (int value : program.outputs)
      slots_.emplace_back(program.values[static_cast<size_t>(value)], memory_);
    results_.resize(slots_.size());
  }

  void run(std::span<const Tensor> inputs, Tensors& outputs) {
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const Variable& variable = bindings_[i].variable;
      variables_[i] =
          bindings_[i].result >= 0 ? variable.exclusive(memory_) : variable.settled(memory_);
    }
    for (size_t i = 0; i < slots_.size(); ++i) results_[i] = slots_[i].next();
    struct Release {  // so that others' copies of handles are the only ones
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

  Variables written() const {
    Variables variables;
    for (const Program::Binding& b : bindings_)
      if (b.result >= 0) variables.push_back(b.variable);
    return variables;
  }

  Device& device;
  TensorSpecs specs;
  std::unique_ptr<Executable> executable;

 private:
  std::span<const Tensor> bring(std::span<const Tensor> inputs) {
    for (const Tensor& input : inputs) brought_.push_back(input.to(memory_));
    return brought_;
  }

  Memory* memory_;
  std::vector<Program::Binding> bindings_;
  /// Of the run in progress; kept so that a run allocates nothing.
  Tensors brought_, variables_, results_;
  std::vector<OutputSlot> slots_;
};

bool matches(const TensorSpecs& specs, std::span<const Tensor> inputs) {
  return std::equal(specs.begin(), specs.end(), inputs.begin(), inputs.end(),
                    [](const TensorSpec& spec, const Tensor& t) { return spec == t.spec(); });
}

}  // namespace

struct Function::State {
  Body body;
  OptimizeOptions options;
  std::recursive_mutex mutex;  // a body may call other functions while it is traced
  std::unordered_multimap<int64_t, std::shared_ptr<Compiled>> compiled;  ///< by key

  std::shared_ptr<Compiled> find(std::span<const Tensor> inputs, int64_t key) {
    Device& device = crescent::device();
    auto [first, last] = compiled.equal_range(key);
    for (auto at = first; at != last; ++at) {
      if (&at->second->device == &device && matches(at->second->specs, inputs)) return at->second;
    }
    auto made = std::make_shared<Compiled>(body, inputs, options, device);
    compiled.emplace(key, made);
    return made;
  }

  /// Part of a larger trace, watched by a tape, or only asked for shapes: the body itself runs.
  static bool is_inlined(std::span<const Tensor> inputs) {
    return is_tracing() || tapes_are_active() ||
           std::any_of(inputs.begin(), inputs.end(),
                       [](const Tensor& t) { return t.is_abstract(); });
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

Executable& Function::executable(std::span<const Tensor> inputs, int64_t key) const {
  std::lock_guard lock(state_->mutex);
  return *state_->find(inputs, key)->executable;
}

Variables Function::written(std::span<const Tensor> inputs, int64_t key) const {
  std::lock_guard lock(state_->mutex);
  return state_->find(inputs, key)->written();
}

void Function::clear() const {
  std::lock_guard lock(state_->mutex);
  state_->compiled.clear();
}

size_t Function::signatures() const {
  std::lock_guard lock(state_->mutex);
  return state_->compiled.size();
}

}  // namespace crescent
