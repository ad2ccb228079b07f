// The form of amx::multiply() for processors that have no tiles.
#pragma once
#include "matmul/amx.h"

namespace crescent::cpu::amx {

/// Does what multiply() does by AVX-512 vectors of pairs of bfloat16 values; for processors for
/// which has_vectors() is true.
void multiply_vectors(Block block, const LeftStrips& a, const RightStrips& b, int64_t steps,
                      int64_t runs, float* c, bool add);

}  // namespace crescent::cpu::amx
