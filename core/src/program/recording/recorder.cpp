#include "program/recording/recorder.h"

#include <algorithm>
#include <cassert>

#include "program/recording/divided.h"
#include "program/recording/rematerialization.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace {

thread_local Recorder* current_recorder = nullptr;

}  // namespace

Recorder* Recorder::current() { return current_recorder; }
Recorder* Recorder::set_current(Recorder* recorder) {
  return std::exchange(current_recorder, recorder);
}

Recorder::Recorder(Kind kind) : kind_(kind), parent_(set_current(this)), scopes_{{"", 0}} {}
Recorder::~Recorder() { set_current(parent_); }

int Recorder::add(const Tensor& tensor) {
  const int value_number = program_.add_value(tensor.spec());
  values_.emplace(value_id(tensor), value_number);
  kept_tensors_.push_back(value_of(tensor));
  return value_number;
}

Tensor Recorder::add_input(const TensorSpec& spec) {
  Tensor input = Tensor::abstract(spec);
  program_.inputs.push_back(add(input));
  return input;
}

int Recorder::find(const Tensor& tensor) {
  for (const Tensor* t = &value_of(tensor); *t; t = &record_of(*t).aliased) {
    if (auto it = values_.find(t->id()); it != values_.end()) return it->second;
  }
  if (tensor.is_abstract()) {
    const bool is_outer_value =
        kind_ == Kind::scan_body && (!parent_ || parent_->find(tensor) >= 0);
    return is_outer_value ? capture(tensor) : -1;
  }
  hold(tensor);
  return kind_ == Kind::scan_body && tensor.rank() > 0 ? capture(tensor) : add_constant(tensor);
}

void Recorder::hold(const Tensor& tensor) {
  if (kind_ == Kind::scan_body) return parent_ ? parent_->hold(tensor) : void();
  const std::shared_ptr<Storage>& storage = record_of(tensor).storage;
  if (held_storages_.insert(storage.get()).second) holds_.emplace_back(storage);
}

int Recorder::capture(const Tensor& tensor) {
  captured_.push_back(value_of(tensor));
  program_.inputs.push_back(add(tensor));
  return program_.inputs.back();
}

int Recorder::add_constant(const Tensor& tensor) {
  if (tensor.rank() == 0) return add_scalar(tensor);
  const int value_number = add(tensor);
  program_.constants.push_back({value_number, value_of(tensor)});
  return value_number;
}

/// Adds a copy of the scalar to the program as a constant and returns its value number. Equal
/// scalars share a constant.
int Recorder::add_scalar(const Tensor& tensor) {
  std::string key(1, static_cast<char>(tensor.dtype()));
  key.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  const auto [entry, is_new] = scalars_.try_emplace(std::move(key), -1);
  if (is_new) {
    entry->second = add(tensor);
    program_.constants.push_back({entry->second, tensor.clone()});
  } else {
    values_.emplace(value_id(tensor), entry->second);
    kept_tensors_.push_back(value_of(tensor));
  }
  return entry->second;
}

bool Recorder::record(const OpPtr& op, std::span<const Tensor> inputs,
                      std::span<const Tensor> outputs) {
  auto belongs_to_other_trace = [&](const Tensor& t) { return t.is_abstract() && find(t) < 0; };
  if (std::any_of(inputs.begin(), inputs.end(), belongs_to_other_trace)) return false;
  Program::Instruction instruction{op, {}, {}, scope_};
  for (const Tensor& t : inputs) instruction.inputs.push_back(find(t));
  for (const Tensor& t : outputs) instruction.outputs.push_back(add(t));
  program_.code.push_back(std::move(instruction));
  return true;
}

void Recorder::define(const OpPtr& op, std::span<const Tensor> inputs,
                      const Tensor& declared_result) {
  Program::Instruction instruction{op, {}, {find(declared_result)}, scope_};
  for (const Tensor& t : inputs) instruction.inputs.push_back(find(t));
  program_.code.push_back(std::move(instruction));
}

Recorder::VariableEntry& Recorder::entry_of(const Variable& variable) {
  if (auto it = variables_.find(variable.id()); it != variables_.end()) return it->second;
  Tensor start_value = Tensor::abstract(stored_spec(variable));
  program_.variables.push_back({variable, add(start_value), -1});
  return variables_
      .emplace(variable.id(), VariableEntry{program_.variables.size() - 1, start_value})
      .first->second;
}

Tensor Recorder::read(const Variable& variable) {
  if (kind_ == Kind::program) return entry_of(variable).current_value;
  Recorder* this_recorder = set_current(parent_);
  Tensor value = variable.value();
  set_current(this_recorder);
  return value;
}

void Recorder::assign(const Variable& variable, const Tensor& value) {
  if (kind_ == Kind::scan_body) {
    fail("variable '", variable.path(),
         "' cannot be assigned inside the body of a scan: make it a state of the scan");
  }
  const int value_number = find(value);
  if (value_number < 0)
    fail("variable '", variable.path(),
         "' is assigned a tensor that does not belong to this program");
  VariableEntry& entry = entry_of(variable);
  // The alias has an id of its own, because gradients do not flow through an assignment.
  entry.current_value = value_of(value).alias();
  program_.variables[entry.binding].result = value_number;
}

Program Recorder::finish(std::span<const Tensor> outputs) {
  for (const Tensor& t : outputs) {
    if (!t) fail("the traced function gave no tensor as output ", program_.outputs.size());
    const int value_number = find(t);
    if (value_number < 0)
      fail("the traced function gave a tensor ", t.spec(), " that was not computed in it");
    program_.outputs.push_back(value_number);
  }
  if (is_rematerializing_) return rematerialized(std::move(program_), backward_);
  return std::move(program_);
}

int Recorder::enter_scope(const std::string& name) {
  const std::string& outer_scope = program_.scopes[scope_];
  std::string path = outer_scope.empty() ? name : outer_scope + "/" + name;
  const auto [entry, is_new] =
      scopes_.try_emplace(std::move(path), static_cast<int>(program_.scopes.size()));
  if (is_new) program_.scopes.push_back(entry->first);
  return std::exchange(scope_, entry->second);
}

Tensors replay(const Program& program, std::span<const Tensor> inputs) {
  assert(program.variables.empty() && inputs.size() == program.inputs.size());
  Tensors values(program.values.size());
  auto value_at = [&](int value_number) -> Tensor& { return values[value_number]; };
  for (size_t i = 0; i < inputs.size(); ++i) value_at(program.inputs[i]) = inputs[i];
  for (const Program::Constant& c : program.constants) value_at(c.value) = c.tensor;
  for (const Program::Instruction& instruction : program.code) {
    Tensors arguments;
    for (int value_number : instruction.inputs) arguments.push_back(value_at(value_number));
    Tensors results = crescent::apply(instruction.op, arguments);
    for (size_t i = 0; i < results.size(); ++i) value_at(instruction.outputs[i]) = results[i];
  }
  Tensors outputs;
  for (int value_number : program.outputs) outputs.push_back(value_at(value_number));
  return outputs;
}

}  // namespace crescent
