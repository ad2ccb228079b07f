#include "crescent/tensor/variable.h"

#include <atomic>

#include "crescent/ops/ops.h"
#include "crescent/program/communicator.h"
#include "crescent/program/program.h"
#include "program/recording/autocast.h"
#include "program/recording/divided.h"
#include "program/recording/lockstep.h"
#include "program/recording/option_changes.h"
#include "program/recording/recorder.h"
#include "program/recording/stateless.h"
#include "program/recording/storage_hold.h"
#include "program/recording/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {

struct Variable::State {
  Tensor value;
  Options options;
  std::string path;
  std::optional<Division> division{};
  /// The spec of the whole variable if it is divided; `value` is then the part of this process.
  TensorSpec whole_spec{};
  StorageHold hold{value.storage()};

  void set(Tensor new_value) {
    value = std::move(new_value);
    hold = StorageHold(value.storage());
  }
};

namespace {

// the innermost transaction of this thread
thread_local Transaction* current_transaction = nullptr;

std::atomic<uint64_t> trainable_change_count{0}, constraint_change_count{0};

thread_local bool sees_parts = false, gradients_are_partial = false;
// names the code that reads variables while the other processes do not, for messages; empty if all
// processes read them
thread_local std::string lone_reader_name;

/// Whether the value may be written in place: no other tensor shares its memory, the memory is not
/// a file, and no pointer for writing to it was given away.
bool may_be_written_in_place(const Tensor& t) {
  const Storage& storage = *record_of(t).storage;
  return is_unshared(t) && storage.in_memory() && !storage.is_exposed();
}

/// Returns the tensor, or a copy if a pointer for writing to its memory was given away.
Tensor unexposed_copy(const Tensor& t) { return t.storage()->is_exposed() ? t.clone() : t; }

}  // namespace

Variable::Variable(const Tensor& initial, Options options) {
  if (initial.is_abstract()) {
    fail("variable '", options.name, "' needs an initial value, got a tensor ", initial.spec(),
         " without values: variables cannot be made from what is computed while a program is being "
         "recorded");
  }
  std::string path = options.name;
  state_ = std::make_shared<State>(
      State{untracked_alias(unexposed_copy(initial)), std::move(options), std::move(path)});
}

const std::string& Variable::name() const { return state_->options.name; }
const std::string& Variable::path() const { return state_->path; }
void Variable::set_path(std::string path) const { state_->path = std::move(path); }
const TensorSpec& Variable::spec() const {
  return state_->division && !sees_parts ? state_->whole_spec : state_->value.spec();
}
bool Variable::trainable() const { return state_->options.trainable; }
void Variable::set_trainable(bool on) const {
  if (trainable() != on) count_trainable_change();
  state_->options.trainable = on;
}
const std::shared_ptr<Regularizer>& Variable::regularizer() const {
  return state_->options.regularizer;
}
void Variable::set_regularizer(std::shared_ptr<Regularizer> regularizer) const {
  state_->options.regularizer = std::move(regularizer);
  retrace_functions();
}
const std::shared_ptr<Constraint>& Variable::constraint() const {
  return state_->options.constraint;
}
void Variable::set_constraint(std::shared_ptr<Constraint> constraint) const {
  state_->options.constraint = std::move(constraint);
  ++constraint_change_count;
}

uint64_t trainable_changes() { return trainable_change_count.load(std::memory_order_relaxed); }
void count_trainable_change() { ++trainable_change_count; }
uint64_t constraint_changes() { return constraint_change_count.load(std::memory_order_relaxed); }

struct VariableAccess {
  static Variable::State& state(const Variable& variable) { return *variable.state_; }
};

namespace {

/// Gathers the whole value of a divided variable, of which `part_value` is the part of this
/// process.
Tensor gather_whole(const Variable& variable, const Tensor& part_value) {
  if (!lone_reader_name.empty())
    fail(lone_reader_name, " reads '", variable.path(),
         "' in this process alone; it is divided among processes, so all must read it together");
  if (Lockstep::current())
    fail("'", variable.path(),
         "' is divided among processes, which does not go together with op determinism");
  const Division& division = *division_of(variable);
  AllGather op;
  op.axis = division.axis, op.parts = division.parts, op.stride = division.stride;
  op.processes = division.processes;
  op.part = division.part_of(communicator()->rank());
  op.size = variable.shape()[division.axis];
  op.partial = gradients_are_partial;
  const ProgramScope scope(variable.name());
  return apply1(op, {part_value});
}

/// Whether this value of the variable is cast to the dtype of Autocast.
bool casts_down(const Variable& variable, const Tensor& value) {
  return Autocast::current() && variable.trainable() &&
         VariableAccess::state(variable).options.autocast && is_floating(value.dtype());
}

}  // namespace

Tensor Variable::value() const {
  if (!state_) fail("there is no variable here (the layer is not built yet)");
  if (const Tensor scope_value = StatelessAccess::value_of(*this))
    return casts_down(*this, scope_value) ? ops::cast(scope_value, *Autocast::current())
                                          : scope_value;
  Recorder* recorder = Recorder::current();
  const bool is_gathered =
      state_->division && !sees_parts && !(recorder && recorder->is_scan_body());
  if (is_gathered && !recorder)
    if (const Tensor gathered_value = GatheredValues::of(*this)) return gathered_value;
  Tensor value = recorder ? recorder->read(*this) : state_->value;
  if (Lockstep* lockstep = Lockstep::current()) value = lockstep->read(*this, value);
  watch_on_tapes(*this, value);
  if (is_gathered) value = gather_whole(*this, value);
  return casts_down(*this, value) ? ops::cast(value, *Autocast::current()) : value;
}

void Variable::assign(const Tensor& value) const {
  if (!value) fail("variable '", path(), "' cannot be assigned a tensor that is not there");
  if (!value.shape().compatible(shape())) {
    fail("variable '", path(), "' has shape ", shape(), ", it cannot be assigned a value of shape ",
         value.shape());
  }
  Tensor converted_value = ops::cast(value, dtype());
  if (StatelessAccess::assign(*this, converted_value)) return;
  if (state_->division && !sees_parts)
    converted_value = own_part(converted_value, *state_->division);
  if (Recorder* recorder = Recorder::current()) return recorder->assign(*this, converted_value);
  if (converted_value.is_abstract()) {
    fail("variable '", path(), "' cannot be assigned a tensor ", converted_value.spec(),
         " without values");
  }
  Transaction::before_change(*this);
  state_->set(untracked_alias(unexposed_copy(converted_value)));
}

void Variable::assign_add(const Tensor& delta) const { assign(ops::add(value(), delta)); }
void Variable::assign_sub(const Tensor& delta) const { assign(ops::subtract(value(), delta)); }

Tensor Variable::device_value(Memory* memory) const {
  const Tensor& value = state_->value;
  const Storage& storage = *record_of(value).storage;
  if (storage.is_exposed() || storage.memory() != memory) state_->set(value.clone(memory));
  return value;
}

Tensor Variable::writable_value(Memory* memory) const {
  const Tensor& value = state_->value;
  if (!may_be_written_in_place(value) || memory_of(value) != memory)
    state_->set(value.clone(memory));
  return value;
}

bool Variable::is_exclusive() const {
  return !state_->division && may_be_written_in_place(state_->value);
}

// ---- divided variables

PartAccess::PartAccess(bool on) : outer_value_(std::exchange(sees_parts, on)) {}
PartAccess::~PartAccess() { sees_parts = outer_value_; }
PartialGradients::PartialGradients(bool on)
    : outer_value_(std::exchange(gradients_are_partial, on)) {}
PartialGradients::~PartialGradients() { gradients_are_partial = outer_value_; }
NoCollectives::NoCollectives(std::string reader_name)
    : outer_value_(std::exchange(lone_reader_name, std::move(reader_name))) {}
NoCollectives::~NoCollectives() { lone_reader_name = std::move(outer_value_); }

const Division* division_of(const Variable& variable) {
  const std::optional<Division>& division = VariableAccess::state(variable).division;
  return division ? &*division : nullptr;
}

const TensorSpec& stored_spec(const Variable& variable) {
  return VariableAccess::state(variable).value.spec();
}

void declare_divided(const Variable& variable, const Division& division, const Shape& whole_shape,
                     const Tensor& part_value) {
  auto& state = VariableAccess::state(variable);
  state.division = division;
  state.whole_spec = {variable.dtype(), whole_shape};
  if (part_value) state.set(untracked_alias(part_value));
}

// ---- transactions

Transaction::Transaction() : outer_transaction_(std::exchange(current_transaction, this)) {}

Transaction::~Transaction() {
  current_transaction = outer_transaction_;
  if (committed_) {
    for (auto& [variable, value] : old_values_)
      if (outer_transaction_) outer_transaction_->add(variable, std::move(value));
  } else {
    for (auto& [variable, value] : old_values_)
      VariableAccess::state(variable).set(std::move(value));
  }
}

void Transaction::commit() { committed_ = true; }

void Transaction::before_change(const Variable& variable) {
  if (current_transaction)
    current_transaction->add(variable, VariableAccess::state(variable).value);
}

/// Remembers the value of a variable before its first change in this transaction.
void Transaction::add(const Variable& variable, Tensor value) {
  if (changed_ids_.insert(variable.id()).second)
    old_values_.emplace_back(variable, std::move(value));
}

BoxedVariable::~BoxedVariable() = default;

Variable Codec<Variable>::decode(const Value& value) {
  if (value.is_null()) return {};
  auto boxed = value.object_as<BoxedVariable>();
  if (!boxed) fail("expected ", type(), ", got ", value);
  return boxed->variable;
}

Value Codec<Variable>::encode(const Variable& member) {
  return member ? Value(std::make_shared<BoxedVariable>(member)) : Value();
}

std::string Codec<Variable>::type() { return "a variable"; }

}  // namespace crescent
