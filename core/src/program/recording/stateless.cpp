#include "program/recording/stateless.h"

#include "crescent/ops/ops.h"
#include "program/recording/divided.h"
#include "program/recording/recorder.h"

namespace crescent {
namespace {

thread_local StatelessScope* innermost_scope = nullptr;

void expect_whole(const Variable& variable) {
  if (division_of(variable))
    fail("StatelessScope: '", variable.path(),
         "' is divided among processes, so no process has its whole value");
}

}  // namespace

StatelessScope* StatelessAccess::current() { return innermost_scope; }

Tensor StatelessAccess::value_of(const Variable& variable) {
  const StatelessScope* scope = innermost_scope;
  // If the trace in which the scope was made is suspended, code needs the real value of the
  // variable.
  if (!scope || (scope->recorder_ && !Recorder::current())) return {};
  return scope->current_value(variable);
}

bool StatelessAccess::assign(const Variable& variable, const Tensor& value) {
  StatelessScope* scope = innermost_scope;
  if (!scope || scope->recorder_ != Recorder::current()) return false;
  expect_whole(variable);
  // `value` is stored without a copy or an alias, so that gradients flow through the assignment.
  scope->values_.insert_or_assign(variable.id(), std::pair(variable, value));
  return true;
}

StatelessScope::StatelessScope(const Mapping& state_mapping)
    : outer_(innermost_scope), recorder_(Recorder::current()) {
  for (const auto& [variable, value] : state_mapping) {
    if (!variable || !value)
      fail("StatelessScope: expected variables and their values, got an empty ",
           variable ? "value" : "variable");
    if (!value.shape().compatible(variable.shape()))
      fail("Invalid variable value in StatelessScope: all values in argument `mapping` must be ",
           "tensors with a shape that matches the corresponding variable shape. For variable ",
           variable.path(), " of shape ", variable.shape(), ", received a value of shape ",
           value.shape(), ".");
    expect_whole(variable);
    values_.insert_or_assign(variable.id(),
                             std::pair(variable, ops::cast(value, variable.dtype())));
  }
  innermost_scope = this;
}

StatelessScope::~StatelessScope() { innermost_scope = outer_; }

Tensor StatelessScope::current_value(const Variable& variable) const {
  const auto entry = values_.find(variable.id());
  return entry == values_.end() ? Tensor() : entry->second.second;
}

Tensors StatelessScope::current_values(const Variables& variables) const {
  Tensors values;
  for (const Variable& variable : variables) {
    const Tensor scope_value = current_value(variable);
    values.push_back(scope_value ? scope_value : variable.value());
  }
  return values;
}

}  // namespace crescent
