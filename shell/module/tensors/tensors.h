// The types of tensors and variables, and functions that make tensors.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& tensor_type();
const Type& variable_type();
/// tensor, zeros, ones, ...: functions of `cr` itself.
const std::vector<CallablePtr>& tensor_functions();
/// True while nobody may be recording: a view of memory may then stand for an op.
class Recording {
 public:
  Recording() { ++depth_; }
  ~Recording() { --depth_; }
  static bool possible() { return depth_ > 0 || in_callback(); }

 private:
  static inline int depth_ = 0;
};

}  // namespace crescent::lua
