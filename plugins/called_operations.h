// Functions by which other plugins call operations of cr.ops by name.
#pragma once
#include "crescent/layer/operation.h"

namespace crescent {

/// Calls the operation of cr.ops with this name.
inline Value operation_result(const char* name, const Dict& arguments) {
  return (*make<Operation>(name))(arguments);
}
/// Calls an operation that returns a tensor.
inline Tensor operation(const char* name, const Dict& arguments) {
  return Codec<Tensor>::decode(operation_result(name, arguments));
}
inline Value boxed(const Tensor& tensor) { return Codec<Tensor>::encode(tensor); }

}  // namespace crescent
