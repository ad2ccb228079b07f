#include "crescent/program/gradient.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "crescent/ops/ops.h"
#include "crescent/system/crash.h"
#include "program/op_blame.h"
#include "program/recording/recorder.h"
#include "program/recording/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {

using ValueIds = std::unordered_set<const void*>;

struct GradientTape::State {
  struct Entry {
    OpPtr op;
    Tensors inputs, outputs;
    int scope = 0;                         ///< scope in which the op was recorded
    std::vector<uint64_t> write_counts{};  ///< write counts of inputs, then outputs, when recorded
  };
  std::vector<Entry> entries;
  ValueIds tracked_ids;  ///< ids of watched tensors and of tensors that depend on them
  /// maps the id of a variable to the values that were read from the variable
  std::unordered_map<const void*, Tensors> variables;
  Tensors watched_tensors;  ///< watched tensors, kept so that their ids stay unique
  /// the trace in which the tape was made, or null
  const Recorder* recorder = Recorder::current();

  void watch(const Tensor& tensor) {
    if (tracked_ids.insert(value_id(tensor)).second) watched_tensors.push_back(value_of(tensor));
  }
};

namespace {

thread_local int pause_count = 0;

}  // namespace

struct TapeAccess {
  using State = GradientTape::State;
  static const State& state(const GradientTape& tape) { return *tape.state_; }
};

namespace {

using State = TapeAccess::State;

/// The tapes that record on this thread; the innermost tape is the last one.
std::vector<State*>& tapes() {
  thread_local std::vector<State*> stack;
  return stack;
}

/// While an object of this class lives, instructions are recorded in the scope of the op that is
/// differentiated, so that profiles attribute the gradient to the layer of that op.
class DifferentiatedScope {
 public:
  explicit DifferentiatedScope(const State& tape, int scope) : recorder_(Recorder::current()) {
    if (recorder_ != tape.recorder) recorder_ = nullptr;
    if (recorder_) previous_scope_ = recorder_->scope(), recorder_->set_scope(scope);
  }
  ~DifferentiatedScope() {
    if (recorder_) recorder_->set_scope(previous_scope_);
  }
  DifferentiatedScope(const DifferentiatedScope&) = delete;

 private:
  Recorder* recorder_;
  int previous_scope_ = 0;
};

bool differentiable(const Tensor& t) {
  return is_floating(t.dtype()) || t.dtype() == DType::complex64;
}

/// The write counts of the storages of all inputs and outputs.
std::vector<uint64_t> write_counts_of(std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs) {
  std::vector<uint64_t> write_counts;
  write_counts.reserve(inputs.size() + outputs.size());
  for (const auto tensors : {inputs, outputs})
    for (const Tensor& tensor : tensors)
      write_counts.push_back(tensor.is_abstract() ? 0 : tensor.contents().writes);
  return write_counts;
}

void expect_unwritten(const State::Entry& entry) {
  if (write_counts_of(entry.inputs, entry.outputs) != entry.write_counts)
    fail("gradient: elements of a tensor that ", entry.op->label(),
         " had as input or result were written after the tape recorded it; write into a clone()");
}

/// Calls the op's vjp and checks that the gradients match its inputs.
Tensors checked_vjp(const Op& op, const Vjp& v) {
  const Running running("vjp() of op", "", op.name(), "");
  Tensors gradients = blaming(op, "vjp", [&] { return op.vjp(v); });
  if (gradients.size() != v.inputs.size())
    fail(op_description(op), ": vjp() gave ", gradients.size(),
         " gradients, expected one for each of ", v.inputs.size(),
         " inputs (no tensor where there is none)");
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!v.wanted[i] || !gradients[i]) continue;
    const TensorSpec &input = v.inputs[i].spec(), &gradient_spec = gradients[i].spec();
    if (gradient_spec.dtype != input.dtype || !gradient_spec.shape.compatible(input.shape))
      fail(op_description(op), ": vjp() gave a gradient ", gradient_spec, " for input ", i + 1,
           " of ", v.inputs.size(), ", which is ", input);
  }
  return gradients;
}

/// The backward sweep over the entries of one tape.
class BackwardSweep {
 public:
  explicit BackwardSweep(State& tape) : tape_(tape) {}

  void find_path_from(std::span<const Tensor> sources) {
    for (const Tensor& source : sources) ids_on_path_.insert(value_id(source));
    for (const State::Entry& entry : tape_.entries) {
      if (std::none_of(entry.inputs.begin(), entry.inputs.end(),
                       [&](const Tensor& t) { return is_on_path(t); }))
        continue;
      for (const Tensor& output : entry.outputs) ids_on_path_.insert(value_id(output));
    }
  }

  void add(const Tensor& tensor, const Tensor& gradient) {
    if (!gradient) return;
    Tensor& sum = gradients_[value_id(tensor)];
    sum = sum ? ops::add(sum, gradient) : gradient;
  }

  void run() {
    for (size_t i = tape_.entries.size(); i-- > 0;) {
      // The entry is copied, because a vjp may add entries to the tape.
      const State::Entry entry = tape_.entries[i];
      propagate(entry);
    }
  }

  Tensor gradient_of(const Tensor& tensor) const {
    auto entry = gradients_.find(value_id(tensor));
    return entry == gradients_.end() ? Tensor() : entry->second;
  }

 private:
  bool is_on_path(const Tensor& t) const { return ids_on_path_.count(value_id(t)) > 0; }

  void propagate(const State::Entry& entry) {
    Tensors upstream;
    for (const Tensor& output : entry.outputs) upstream.push_back(gradient_of(output));
    if (std::none_of(upstream.begin(), upstream.end(), [](const Tensor& g) { return bool(g); }))
      return;
    Vjp v{entry.inputs, entry.outputs, upstream, {}};
    for (const Tensor& input : entry.inputs)
      v.wanted.push_back(differentiable(input) && is_on_path(input));
    if (std::find(v.wanted.begin(), v.wanted.end(), true) == v.wanted.end()) return;
    expect_unwritten(entry);
    const DifferentiatedScope scope(tape_, entry.scope);
    const Tensors gradients = checked_vjp(*entry.op, v);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (v.wanted[i]) add(entry.inputs[i], gradients[i]);
    }
  }

  State& tape_;
  ValueIds ids_on_path_;
  std::unordered_map<const void*, Tensor> gradients_;
};

}  // namespace

bool tapes_are_active() { return pause_count == 0 && !tapes().empty(); }

bool tapes_follow(const Tensor& tensor) {
  return tapes_are_active() && std::any_of(tapes().begin(), tapes().end(), [&](State* tape) {
           return tape->tracked_ids.contains(value_id(tensor));
         });
}

void record_on_tapes(const OpPtr& op, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, bool are_outputs_abstract) {
  if (!tapes_are_active() || op->name() == "stop_gradient") return;
  const Recorder* recorder = Recorder::current();
  for (State* tape : tapes()) {
    if (are_outputs_abstract && tape->recorder != recorder) continue;
    auto is_tracked = [&](const Tensor& t) {
      return differentiable(t) && tape->tracked_ids.count(value_id(t)) > 0;
    };
    if (std::none_of(inputs.begin(), inputs.end(), is_tracked)) continue;
    const int scope = recorder && recorder == tape->recorder ? recorder->scope() : 0;
    tape->entries.push_back({op,
                             {inputs.begin(), inputs.end()},
                             {outputs.begin(), outputs.end()},
                             scope,
                             write_counts_of(inputs, outputs)});
    for (const Tensor& output : outputs) {
      if (differentiable(output)) tape->tracked_ids.insert(value_id(output));
    }
  }
}

void watch_on_tapes(const Variable& variable, const Tensor& value) {
  if (!tapes_are_active() || !variable.trainable() || !differentiable(value)) return;
  for (State* tape : tapes()) {
    if (tape->tracked_ids.count(value_id(value)) > 0) continue;
    tape->watch(value);
    tape->variables[variable.id()].push_back(value);
  }
}

Tensors values_read(const GradientTape& tape, const Variable& variable) {
  const auto& variables = TapeAccess::state(tape).variables;
  const auto entry = variables.find(variable.id());
  return entry == variables.end() ? Tensors() : entry->second;
}

size_t tape_length() { return tapes_are_active() ? tapes().back()->entries.size() : 0; }

void add_to_tape(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (!tapes_are_active()) return;
  const Recorder* recorder = Recorder::current();
  tapes().back()->entries.push_back({op,
                                     {inputs.begin(), inputs.end()},
                                     {outputs.begin(), outputs.end()},
                                     recorder ? recorder->scope() : 0,
                                     write_counts_of(inputs, outputs)});
}

void interleave_tape(const std::vector<ShardCuts>& shards) {
  if (tapes_are_active()) interleave(tapes().back()->entries, shards);
}

void follow_on_tapes(const Tensor& from, const Tensor& to) {
  if (!tapes_are_active() || !differentiable(to)) return;
  for (State* tape : tapes())
    if (tape->tracked_ids.contains(value_id(from))) tape->watch(to);
}

GradientTape::GradientTape() : state_(std::make_shared<State>()) {
  tapes().push_back(state_.get());
}
GradientTape::GradientTape(GradientTape&&) noexcept = default;
GradientTape::~GradientTape() { stop(); }

void GradientTape::watch(const Tensor& tensor) {
  if (!differentiable(tensor))
    fail("GradientTape: only floating tensors can be watched, got ", tensor.spec());
  state_->watch(tensor);
}

void GradientTape::stop() {
  if (state_) std::erase(tapes(), state_.get());
}

Tensors GradientTape::gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                               std::span<const Tensor> upstreams) {
  if (Recorder* recorder = Recorder::current()) recorder->begin_gradient();
  BackwardSweep sweep(*state_);
  sweep.find_path_from(sources);
  for (size_t i = 0; i < targets.size(); ++i) {
    const Tensor& target = targets[i];
    if (!differentiable(target)) continue;
    const bool has_upstream = i < upstreams.size() && upstreams[i];
    if (has_upstream && !upstreams[i].shape().compatible(target.shape())) {
      fail("gradient: the upstream gradient has shape ", upstreams[i].shape(), ", the target ",
           target.shape());
    }
    sweep.add(target,
              has_upstream ? ops::cast(upstreams[i], target.dtype()) : ops::ones_like(target));
  }
  sweep.run();
  Tensors gradients;
  for (const Tensor& source : sources) gradients.push_back(sweep.gradient_of(source));
  return gradients;
}

Tensors GradientTape::gradient(const Tensor& target, std::span<const Tensor> sources,
                               const Tensor& upstream) {
  return gradient({&target, 1}, sources, {&upstream, 1});
}

/// The gradient of a variable is the sum over all values that were read from it.
Tensors GradientTape::gradient(const Tensor& target, std::span<const Variable> sources,
                               const Tensor& upstream) {
  Tensors values;
  std::vector<size_t> value_counts;
  for (const Variable& source : sources) {
    auto entry = state_->variables.find(source.id());
    const Tensors read_values =
        entry == state_->variables.end() ? Tensors{source.value()} : entry->second;
    values.insert(values.end(), read_values.begin(), read_values.end());
    value_counts.push_back(read_values.size());
  }
  Tensors all_gradients = gradient(target, values, upstream), gradients;
  auto next_gradient = all_gradients.begin();
  for (size_t count : value_counts) {
    Tensor sum;
    for (auto end = next_gradient + static_cast<ptrdiff_t>(count); next_gradient != end;
         ++next_gradient) {
      if (*next_gradient) sum = sum ? ops::add(sum, *next_gradient) : *next_gradient;
    }
    gradients.push_back(sum);
  }
  return gradients;
}

NoGradient::NoGradient() { ++pause_count; }
NoGradient::~NoGradient() { --pause_count; }

}  // namespace crescent
