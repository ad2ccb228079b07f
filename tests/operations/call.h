// Calls operations by name, with arguments as Lua would pass them.
#pragma once
#include "crescent/crescent.h"

namespace crescent::operations_test {

inline Value boxed(const Tensor& x) { return Codec<Tensor>::encode(x); }
inline Value boxed(const Symbol& x) { return Value(std::make_shared<BoxedSymbol>(x)); }

inline Value call(const char* name, const Dict& arguments) {
  return (*get<Operation>(Value(name)))(arguments);
}

}  // namespace crescent::operations_test
