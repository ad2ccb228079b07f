// Products of matrices of 8-bit integers with sums of 32 bits, which wrap around on overflow.
//
// Instructions multiply unsigned by signed bytes. So the left operand is packed as its values plus
// 128, row by row; 128 times the sums of the columns of the right operand are subtracted from the
// results. The right operand is packed in panels of 16 columns: first these 16 numbers, then for
// each four rows the four values of each column. Rows are padded with zeros to multiples of four.
#pragma once
#include <cstdint>

namespace crescent::cpu::bytes {

constexpr int64_t kPanelColumns = 16, kGroup = 4;

/// The number of values in a packed row.
inline int64_t padded_depth(int64_t k) { return (k + kGroup - 1) / kGroup * kGroup; }
inline int64_t panels(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns; }
inline int64_t panel_bytes(int64_t k) {
  return kPanelColumns * (static_cast<int64_t>(sizeof(int32_t)) + padded_depth(k));
}

/// Packs a row of k values that are `step` apart.
void pack_row(const int8_t* row, int64_t step, int64_t k, uint8_t* to);
/// Packs `columns` columns (16 at most) of k values, `row_step` and `column_step` apart.
void pack_panel(const int8_t* b, int64_t row_step, int64_t column_step, int64_t k, int64_t columns,
                int8_t* to);

/// The instructions that a product uses, the slowest first.
enum class Instructions { plain, avx2, vnni };
/// Whether the processor has these instructions.
bool has(Instructions instructions);

/// c (rows, columns), whose rows are `ldc` apart, from packed rows and packed panels.
using Multiply = void (*)(const uint8_t* a, int64_t rows, const int8_t* b, int64_t k,
                          int64_t columns, int32_t* c, int64_t ldc);
Multiply product_with(Instructions instructions);
/// The product with the fastest instructions that the processor has, and their name for profiles.
Multiply fastest_product();
const char* name_of_fastest();

}  // namespace crescent::cpu::bytes
