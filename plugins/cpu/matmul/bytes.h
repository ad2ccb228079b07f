// Products of matrices of 8-bit integers with sums of 32 bits, which wrap around on overflow.
//
// Instructions multiply unsigned by signed bytes. So the left operand holds its values plus 128;
// 128 times the sums of the columns of the right operand are subtracted from the results. The right
// operand is packed in panels of 16 columns: first these 16 numbers, then for each four rows the
// four values of each column. A row of the left operand consists of runs, that is, contiguous
// ranges of bytes, as the window of a convolution does. Four bytes are read at a time, so up to
// three bytes after the end of a run are read too. They do not matter, because each run of the
// right operand is padded with zeros to a multiple of four.
#pragma once
#include <cstdint>

namespace crescent::cpu::bytes {

/// The number of columns of a panel, and the number of rows whose values of a column are adjacent.
constexpr int64_t kPanelColumns = 16, kGroup = 4;

/// The number of products in a sum: `runs` runs of `length` each.
struct Depth {
  int64_t length, runs = 1;
  int64_t groups_of_run() const { return (length + kGroup - 1) / kGroup; }
  int64_t size() const { return length * runs; }
  int64_t padded() const { return groups_of_run() * kGroup * runs; }
};
inline int64_t panel_count(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns; }
inline int64_t panel_bytes(Depth depth) {
  return kPanelColumns * (static_cast<int64_t>(sizeof(int32_t)) + depth.padded());
}

/// Rows of values plus 128. Row i begins at offset rows[i], or at i * row_step without `rows`, and
/// run r of a row at runs[r]. Up to kGroup - 1 bytes behind a run are read.
struct LeftMatrix {
  const uint8_t* values;
  int64_t row_step;
  const int64_t* rows = nullptr;
  const int64_t* runs = kOneRun;
  const uint8_t* row(int64_t i) const { return values + (rows ? rows[i] : i * row_step); }
  static constexpr int64_t kOneRun[] = {0};
};

/// The results, whose rows are `stride` apart. With `factors`, one for each column, they are floats
/// instead: the sums, rounded and then multiplied by the factor.
struct Sums {
  int32_t* values;
  int64_t stride;
  const float* factors = nullptr;
};

/// The number that is added to the values of the left operand.
constexpr int kOffset = 128;
/// Packs a row of k values that are `step` apart as a single run.
void pack_row(const int8_t* row, int64_t step, int64_t k, uint8_t* to);
/// Packs `columns` columns (16 at most), whose values are `row_step` and `column_step` apart.
void pack_panel(const int8_t* b, int64_t row_step, int64_t column_step, Depth depth,
                int64_t columns, int8_t* to);

/// The instructions that a product uses, the slowest first.
enum class Instructions { plain, avx2, vnni };
/// Whether the processor has these instructions.
bool processor_has(Instructions instructions);

/// Computes c (rows, columns) from packed panels b.
using Multiply = void (*)(const LeftMatrix& a, int64_t rows, const int8_t* b, Depth depth,
                          int64_t columns, const Sums& c);
Multiply product_with(Instructions instructions);
/// The product with the fastest instructions that the processor has, and their name for profiles.
Multiply fastest_product();
const char* name_of_fastest();

}  // namespace crescent::cpu::bytes
