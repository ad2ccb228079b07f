// Kernels of weights of 4 bits. A tile has kTileBytes bytes of each row, which are read as a vector
// of 32-bit integers: each lane holds the values of 8 neighbouring columns. A pass over a tile
// computes kVectors of the 8 columns of each lane, with one vector for each.
#include <algorithm>
#include <cstring>

#include "clones.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/device/quantized_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

constexpr int64_t kLanes = 16, kPerLane = 8;
constexpr int64_t kTileBytes = kLanes * 4, kTileColumns = kLanes * kPerLane;
constexpr int64_t kVectors = 4;  ///< number of columns of each lane that a pass computes

typedef float Floats __attribute__((vector_size(kTileBytes)));
typedef uint32_t Integers __attribute__((vector_size(kTileBytes)));

/// A matrix of 4-bit values with a scale and a zero point for each block of rows in a column.
struct Int4Matrix {
  const int8_t* bytes;  ///< the values, two in each byte: (rows, bytes_per_row())
  const float* scale;   ///< the scales: (blocks, columns)
  const int8_t* zero;   ///< the zero points: (blocks, columns)
  int64_t rows, columns, block_size;
  int64_t bytes_per_row() const { return (columns + 1) / 2; }
};

/// The bits of 2^23 as a float: the float whose bits are these and an integer n < 2^23 is 2^23 + n.
constexpr uint32_t kOffsetBits = 0x4b000000;
constexpr float kOffset = 8388608;

/// The scales and zero points of a block, in the columns that a pass over a tile computes.
struct BlockColumns {
  Floats scale[kVectors] = {};
  Floats zero[kVectors] = {};  ///< kOffset + 8 + zero point

  CRESCENT_IN_CLONES BlockColumns(const Int4Matrix& m, int64_t block, int64_t first_column,
                                  int64_t count, int64_t pass_index) {
    const int64_t begin = block * m.columns + first_column;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int64_t i = 0; i < kVectors; ++i) {
        const int64_t column = lane * kPerLane + pass_index * kVectors + i;
        if (column >= count) continue;
        scale[i][lane] = m.scale[begin + column];
        zero[i][lane] = kOffset + 8 + static_cast<float>(m.zero[begin + column]);
      }
  }
};

/// Computes value - zero for the values in a tile of a row, of which `count` bytes exist. The sign
/// bits of all values are inverted, which adds 8, so that they become integers from 0 to 15.
template <int64_t pass_index, bool is_whole>
CRESCENT_IN_CLONES void compute_differences(const int8_t* bytes, int64_t count,
                                            const BlockColumns& block, Floats* values) {
  Integers nibbles = {};
  std::memcpy(&nibbles, bytes, is_whole ? sizeof nibbles : static_cast<size_t>(count));
  nibbles ^= 0x88888888;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kVectors; ++i) {
    const Integers bits =
        ((nibbles >> static_cast<uint32_t>(4 * (pass_index * kVectors + i))) & 15) | kOffsetBits;
    Floats number;
    std::memcpy(&number, &bits, sizeof bits);
    values[i] = number - block.zero[i];
  }
}

/// Writes the columns that a pass has computed.
CRESCENT_IN_CLONES void store(const Floats* values, int64_t pass_index, int64_t count, float* to) {
  for (int64_t lane = 0; lane < kLanes; ++lane)
    for (int64_t i = 0; i < kVectors; ++i) {
      const int64_t column = lane * kPerLane + pass_index * kVectors + i;
      if (column < count) to[column] = values[i][lane];
    }
}

/// Computes products of `lines` lines of x (lines, m.rows) with some columns of the tile that
/// begins at column `first_column`, and writes them to y (lines, m.columns).
template <int64_t lines, int64_t pass_index, bool is_whole>
CRESCENT_IN_CLONES void multiply_pass(const Int4Matrix& m, const float* x, int64_t first_column,
                                      int64_t count, float* y) {
  const int64_t stride = m.bytes_per_row(), bytes = (count + 1) / 2;
  Floats totals[lines][kVectors] = {};
  for (int64_t block = 0; block * m.block_size < m.rows; ++block) {
    const BlockColumns columns(m, block, first_column, count, pass_index);
    const int64_t end = std::min(m.rows, (block + 1) * m.block_size);
    Floats sums[lines][kVectors] = {};
    for (int64_t k = block * m.block_size; k < end; ++k) {
      Floats values[kVectors];
      compute_differences<pass_index, is_whole>(m.bytes + k * stride + first_column / 2, bytes,
                                                columns, values);
#pragma GCC unroll 4
      for (int64_t line = 0; line < lines; ++line)
#pragma GCC unroll 4
        for (int64_t i = 0; i < kVectors; ++i) sums[line][i] += values[i] * x[line * m.rows + k];
    }
#pragma GCC unroll 4
    for (int64_t line = 0; line < lines; ++line)
#pragma GCC unroll 4
      for (int64_t i = 0; i < kVectors; ++i) totals[line][i] += sums[line][i] * columns.scale[i];
  }
  for (int64_t line = 0; line < lines; ++line)
    store(totals[line], pass_index, count, y + line * m.columns + first_column);
}

/// Calls f<pass_index, is_whole>() for both passes over a tile with `count` columns.
template <class F>
CRESCENT_IN_CLONES void for_each_pass(int64_t count, F f) {
  if (count == kTileColumns) {
    f.template operator()<0, true>();
    f.template operator()<1, true>();
  } else {
    f.template operator()<0, false>();
    f.template operator()<1, false>();
  }
}

template <int64_t lines>
CRESCENT_IN_CLONES void multiply_lines(const Int4Matrix& m, const float* x, int64_t first_column,
                                       int64_t count, float* y) {
  for_each_pass(
      count, [&]<int64_t pass_index, bool is_whole>() __attribute__((always_inline)) {
        multiply_pass<lines, pass_index, is_whole>(m, x, first_column, count, y);
      });
}

constexpr int64_t kLines = 4;  ///< number of lines of x that use the same values

/// Computes the columns [first_column, end) of the products of all lines of x.
CRESCENT_IN_CLONES void multiply_columns(const Int4Matrix& m, const float* x, int64_t lines,
                                         int64_t first_column, int64_t end, float* y) {
  for (; first_column < end; first_column += kTileColumns) {
    const int64_t count = std::min(kTileColumns, end - first_column);
    int64_t line = 0;
    for (; line + kLines <= lines; line += kLines)
      multiply_lines<kLines>(m, x + line * m.rows, first_column, count, y + line * m.columns);
    for (; line < lines; ++line)
      multiply_lines<1>(m, x + line * m.rows, first_column, count, y + line * m.columns);
  }
}

/// Computes rows [begin, end) of some columns of a tile; the rows belong to one block.
template <int64_t pass_index, bool is_whole>
CRESCENT_IN_CLONES void convert_pass(const Int4Matrix& m, int64_t begin, int64_t end,
                                     int64_t first_column, int64_t count, float* to) {
  const BlockColumns columns(m, begin / m.block_size, first_column, count, pass_index);
  for (int64_t row = begin; row < end; ++row) {
    Floats values[kVectors];
    compute_differences<pass_index, is_whole>(m.bytes + row * m.bytes_per_row() + first_column / 2,
                                              (count + 1) / 2, columns, values);
    for (int64_t i = 0; i < kVectors; ++i) values[i] *= columns.scale[i];
    store(values, pass_index, count, to + row * m.columns + first_column);
  }
}

/// Computes the rows [begin, end) of the matrix.
CRESCENT_IN_CLONES void convert_rows(const Int4Matrix& m, int64_t begin, int64_t end, float* to) {
  for (int64_t row = begin, block_end = 0; row < end; row = block_end) {
    block_end = std::min(end, (row / m.block_size + 1) * m.block_size);
    for (int64_t first_column = 0; first_column < m.columns; first_column += kTileColumns) {
      const int64_t count = std::min(kTileColumns, m.columns - first_column);
      for_each_pass(
          count, [&]<int64_t pass_index, bool is_whole>() __attribute__((always_inline)) {
            convert_pass<pass_index, is_whole>(m, row, block_end, first_column, count, to);
          });
    }
  }
}

CRESCENT_CLONES(products_of, multiply_columns,
                (const Int4Matrix& m, const float* x, int64_t lines, int64_t first_column,
                 int64_t end, float* y),
                (m, x, lines, first_column, end, y))
CRESCENT_CLONES(floats_of, convert_rows,
                (const Int4Matrix& m, int64_t begin, int64_t end, float* to), (m, begin, end, to))

/// Whether bytes, scales and zero points have the dtypes that the kernels read; the device also
/// asks for wider ones.
bool is_int4(std::span<const TensorSpec> matrix) {
  return matrix[0].dtype == DType::int8 && matrix[1].dtype == DType::float32 &&
         matrix[2].dtype == DType::int8;
}

/// The matrix whose bytes are input `first_input`, followed by scales and zero points.
Int4Matrix matrix_of(const CpuArguments& a, int first_input, const Shape& scale, int64_t rows,
                     int64_t block) {
  return {a.in<int8_t>(first_input),
          a.in<float>(first_input + 1),
          a.in<int8_t>(first_input + 2),
          rows,
          scale[1],
          block};
}

/// Computes products of few lines of x, which read each byte of the matrix once per kLines lines.
/// For more lines it is faster to convert the matrix to floats first.
class Int4ProductKernel final : public CpuKernel {
 public:
  static void describe(Schema<Int4ProductKernel>& s) {
    s.doc("Runs on several threads, each with some columns.");
  }
  bool prepare(const CpuRequest& r) override {
    constexpr int64_t kMaxLines = 16;
    block_size_ = r.op_as<Int4Product>()->block, scale_shape_ = r.inputs[2].shape;
    rows_ = r.inputs[1].shape[0];
    lines_ = r.outputs[0].shape.size() / std::max<int64_t>(1, scale_shape_[1]);
    return r.inputs[0].dtype == DType::float32 && is_int4(r.inputs.subspan(1)) &&
           lines_ <= kMaxLines;
  }
  void run(const CpuArguments& a) override {
    const Int4Matrix m = matrix_of(a, 1, scale_shape_, rows_, block_size_);
    a.threads.blocks(m.columns, kTileColumns, [&](int64_t begin, int64_t end) {
      products_of(m, a.in<float>(0), lines_, begin, end, a.out<float>(0));
    });
  }
  double flops() const override {
    return 2 * static_cast<double>(lines_ * rows_) * static_cast<double>(scale_shape_[1]);
  }

 private:
  Shape scale_shape_;
  int64_t lines_ = 0, rows_ = 0, block_size_ = 0;
};

class Int4FloatsKernel final : public CpuKernel {
 public:
  static void describe(Schema<Int4FloatsKernel>& s) {
    s.doc("Runs on several threads, each with some rows.");
  }
  bool prepare(const CpuRequest& r) override {
    block_size_ = r.op_as<Int4Floats>()->block, scale_shape_ = r.inputs[1].shape;
    rows_ = r.inputs[0].shape[0];
    return is_int4(r.inputs);
  }
  void run(const CpuArguments& a) override {
    constexpr int64_t kTaskNumbers = 65536;
    const Int4Matrix m = matrix_of(a, 0, scale_shape_, rows_, block_size_);
    a.threads.blocks(
        rows_, std::max<int64_t>(1, kTaskNumbers / std::max<int64_t>(1, m.columns)),
        [&](int64_t begin, int64_t end) { floats_of(m, begin, end, a.out<float>(0)); });
  }

 private:
  Shape scale_shape_;
  int64_t rows_ = 0, block_size_ = 0;
};

}  // namespace

CRESCENT_REGISTER(int4_kernels) {
  registry.add<Int4ProductKernel>(Int4Product::kName);
  registry.add<Int4FloatsKernel>(Int4Floats::kName);
}

}  // namespace crescent::operations
