// Ops that pack, unpack and multiply weights quantized to 4 bits.
#include "crescent/device/quantized_op_types.h"
#include "crescent/ops/ops.h"

namespace crescent {
namespace {

constexpr int64_t kMaxInt4 = 7;

/// `block_rows` has a row for each block of `block_size` rows. Repeats it for the rows of the
/// block: (blocks, columns) -> (rows, columns).
Tensor rows_of_blocks(const Tensor& block_rows, int64_t rows, int64_t block_size) {
  const Tensor row_numbers = ops::arange(rows, DType::float32);
  return ops::gather(
      block_rows,
      ops::cast(ops::floor(row_numbers / static_cast<double>(block_size)), DType::int32), 0);
}

}  // namespace

Tensor packed_int4(const Tensor& values) {
  const Tensor floats = ops::cast(values, DType::float32);
  const int64_t columns = floats.dim(-1), padding_columns = columns % 2;
  std::vector<int64_t> no_padding(floats.rank(), 0), padding_after = no_padding;
  padding_after.back() = padding_columns;
  const Tensor padded_floats =
      padding_columns ? ops::pad(floats, no_padding, padding_after) : floats;
  const Tensor low = ops::slice_axis(padded_floats, -1, 0, columns + padding_columns, 2),
               high = ops::slice_axis(padded_floats, -1, 1, columns + padding_columns, 2);
  const Tensor unsigned_low = ops::where(ops::less(low, 0), low + 16.0, low);
  return ops::cast(high * 16.0 + unsigned_low, DType::int8);
}

Tensor unpacked_int4(const Tensor& bytes, int64_t columns) {
  const Tensor byte_values = ops::cast(bytes, DType::float32),
               high = ops::floor(byte_values / 16.0), low_nibbles = byte_values - high * 16.0;
  const Tensor halves[] = {
      ops::where(ops::greater(low_nibbles, kMaxInt4), low_nibbles - 16.0, low_nibbles), high};
  const Shape unpacked_shape = bytes.shape().slice(0, -1).concat({2 * bytes.dim(-1)});
  const Tensor values = ops::reshape(ops::stack(halves, -1), unpacked_shape);
  return ops::cast(ops::slice_axis(values, -1, 0, columns), DType::int8);
}

TensorSpecs Int4Floats::infer(std::span<const TensorSpec> in) const {
  const Shape &bytes = in[0].shape, &scale = in[1].shape;
  const bool is_valid = block > 0 && bytes.rank() == 2 && scale.rank() == 2 &&
                        bytes[1] == (scale[1] + 1) / 2 &&
                        scale[0] == (bytes[0] + block - 1) / block;
  if (!is_valid || in[0].dtype != DType::int8 || !is_floating(in[1].dtype) ||
      in[2] != TensorSpec{DType::int8, scale})
    fail(kName, ": expected int8 (rows, columns / 2), floats (blocks, columns) and int8 (blocks, ",
         "columns) with blocks of ", block, " rows, got ", in[0], ", ", in[1], " and ", in[2]);
  return {{in[1].dtype, {bytes[0], scale[1]}}};
}

Tensors Int4Floats::decompose(std::span<const Tensor> in) const {
  const int64_t rows = in[0].dim(0);
  const DType dtype = in[1].dtype();
  const Tensor values = ops::cast(unpacked_int4(in[0], in[1].dim(1)), dtype);
  return {(values - rows_of_blocks(ops::cast(in[2], dtype), rows, block)) *
          rows_of_blocks(in[1], rows, block)};
}

TensorSpecs Int4Product::infer(std::span<const TensorSpec> in) const {
  Int4Floats matrix;
  matrix.block = block;
  const Shape float_shape = matrix.infer(in.subspan(1)).front().shape, &x = in[0].shape;
  if (!is_floating(in[0].dtype) || x.rank() < 1 || x[-1] != float_shape[0])
    fail(kName, ": expected floats (..., ", float_shape[0], "), got ", in[0]);
  return {{in[0].dtype, x.slice(0, -1).concat({float_shape[1]})}};
}

Tensors Int4Product::decompose(std::span<const Tensor> in) const {
  Int4Floats matrix;
  matrix.block = block;
  const Tensor floats = apply1(matrix, {in[1], in[2], in[3]});
  return {ops::matmul(in[0], ops::cast(floats, in[0].dtype()))};
}

}  // namespace crescent
