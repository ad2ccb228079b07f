// Elementwise ops by kind, and the kernels that compute them.
#pragma once
#include "support.h"

namespace crescent::cpu::test {

inline Unary unary(UnaryKind kind) {
  Unary op;
  op.kind = kind;
  return op;
}

inline Binary binary(BinaryKind kind) {
  Binary op;
  op.kind = kind;
  return op;
}

inline std::unique_ptr<Kernel> make(const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  return make_kernel({op, in, out, Options{}});
}

}  // namespace crescent::cpu::test
