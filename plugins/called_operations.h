// Functions by which other plugins call operations of cr.ops by name.
#pragma once
#include "crescent/layer/operation.h"

namespace crescent {

/// The result of an operation of cr.ops.
inline Value operation_result(const char* name, const Dict& arguments) {
  return (*make<Operation>(name))(arguments);
}
/// The result of an operation that returns a tensor.
inline Tensor operation(const char* name, const Dict& arguments) {
  return Codec<Tensor>::decode(operation_result(name, arguments));
}
inline Value boxed(const Tensor& tensor) { return Codec<Tensor>::encode(tensor); }

}  // namespace crescent
