// Ops of linear algebra on batches of matrices, in float64: what authors of devices need beside
// op_types.h. Users call crescent/ops/linalg.h.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

// clang-format off
/// (a (..., n, n), b (..., n, k)) -> x with a x = b; large ones in float32 too.
CRESCENT_OP(Solve, "solve")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// The same where only one triangle of a counts.
CRESCENT_OP(TriangularSolve, "tri_solve")
  bool lower = false;
  CRESCENT_FIELDS(lower)
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> l and u in one, the rows that were exchanged (from 0), sign and logarithm of
/// the determinant, which is one of square matrices.
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
/// (a as pairs (..., n, n, 2)) -> eigenvalues, eigenvectors in columns, of complex64. Fails where a
/// matrix is not finite.
CRESCENT_OP(Eig, "eig")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> u (..., m, k), descending s (..., k), v' (..., k, n), k = min(m, n).
CRESCENT_OP(BatchedSvd, "svd_batch")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (a (..., m, n)) -> q (..., m, k), r (..., k, n); k = m where it is complete, else min(m, n).
CRESCENT_OP(BatchedQr, "qr_batch")
  bool complete = false;
  CRESCENT_FIELDS(complete)
  Tensors decompose(std::span<const Tensor>) const override;  ///< of one matrix: Qr
  Tensors vjp(const Vjp&) const override;
};
// clang-format on

}  // namespace crescent
