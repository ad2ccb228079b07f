// How variables find the values of the innermost StatelessScope.
#pragma once
#include "crescent/program/stateless_scope.h"

namespace crescent {

struct StatelessAccess {
  /// The innermost scope of this thread, or null.
  static StatelessScope* current();
  /// The value that a scope gives for the variable at this point; an empty Tensor if there is none.
  static Tensor value_of(const Variable& variable);
  /// Changes the value of the variable in the scope; returns false if no scope takes the
  /// assignment, because there is none or because code inside it records another program.
  static bool assign(const Variable& variable, const Tensor& value);
};

}  // namespace crescent
