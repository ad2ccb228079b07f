// How variables find the values of the innermost StatelessScope.
#pragma once
#include "crescent/program/stateless_scope.h"

namespace crescent {

struct StatelessAccess {
  /// The innermost scope of this thread, or null.
  static StatelessScope* current();
  /// The current value of the variable in the innermost scope; an empty Tensor if there is none.
  static Tensor value_of(const Variable& variable);
  /// Changes the value of the variable in the innermost scope. Returns false without a change if
  /// there is no scope, or if another program is being recorded than when the scope was made.
  static bool assign(const Variable& variable, const Tensor& value);
};

}  // namespace crescent
