// Linear algebra ops on batches of matrices, in float64, for authors of devices, in addition to
// op_types.h. Users call crescent/ops/linalg.h.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

// clang-format off
/// (a (..., n, n), b (..., n, k)) -> x with a x = b; large matrices may also be float32.
CRESCENT_OP(Solve, "solve")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a, b) -> x with a x = b for a triangular a, lower if `lower`; the other triangle is ignored.
CRESCENT_OP(TriangularSolve, "tri_solve")
  bool lower = false;
  CRESCENT_FIELDS(lower)
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> l and u in one matrix, pivots (the row that each row was exchanged with, from
/// 0), and sign and logarithm of the determinant, which is 1 for matrices that are not square.
CRESCENT_OP(Lu, "lu_factor")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a) -> lower l with l l' = a; NaN where a is not positive definite.
CRESCENT_OP(Cholesky, "cholesky")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (symmetric a) -> ascending eigenvalues, eigenvectors in columns.
CRESCENT_OP(Eigh, "eigh")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a as pairs of real and imaginary parts (..., n, n, 2)) -> eigenvalues, eigenvectors in columns,
/// of complex64. Fails where a matrix is not finite.
CRESCENT_OP(Eig, "eig")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> u (..., m, k), descending s (..., k), v' (..., k, n), k = min(m, n).
CRESCENT_OP(BatchedSvd, "svd_batch")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> q (..., m, k), r (..., k, n); k = m if complete, else min(m, n).
CRESCENT_OP(BatchedQr, "qr_batch")
  bool complete = false;
  CRESCENT_FIELDS(complete)
  Tensors decompose(std::span<const Tensor>) const override;  ///< uses Qr
  Tensors vjp(const Vjp&) const override;
};
// clang-format on

}  // namespace crescent
