// Operations of cr.ops that other plugins call by name.
#pragma once
#include "crescent/layer/operation.h"

namespace crescent {

/// An operation of cr.ops by its name.
inline Value operation_result(const char* name, const Dict& arguments) {
  return (*make<Operation>(name))(arguments);
}
/// One that gives one tensor.
inline Tensor operation(const char* name, const Dict& arguments) {
  return Codec<Tensor>::decode(operation_result(name, arguments));
}
inline Value boxed(const Tensor& tensor) { return Codec<Tensor>::encode(tensor); }

}  // namespace crescent
