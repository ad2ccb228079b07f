// Right operands of products of bytes (bytes.h), packed in every run or, if they are weights that
// seldom change, only after a change.
#pragma once
#include "kernel/kernel.h"
#include "matmul/bytes.h"

namespace crescent::cpu::bytes {

/// A matrix of bytes (depth.size(), columns), whose values are `row_step` and `column_step` apart.
struct RightMatrix {
  int64_t row_step, column_step;
  Depth depth;
  int64_t columns;

  int64_t panel_count() const { return bytes::panel_count(columns); }
  int64_t bytes() const { return panel_count() * panel_bytes(depth); }
  /// Packs panel `panel` of the matrix that begins at `from`; the panels begin at `to`.
  void pack(const int8_t* from, int64_t panel, int8_t* to) const;
};

/// The conversion of an input, which is the single matrix `matrix`, to panels.
InputConversion conversion_to_panels(const RightMatrix& matrix);

}  // namespace crescent::cpu::bytes
