// Creation of tensors, and triangles and diagonals of matrices.
#include "crescent/ops/creation.h"

#include "crescent/registry/registration.h"
#include "given_numbers.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using OptionalDType = std::optional<DType>;

DType dtype_or_float(OptionalDType dtype) { return dtype.value_or(floatx()); }

/// Converts a number to an operand; integers keep an integer dtype.
Operand number_in(const Value& value) {
  return value.is_int() ? Operand(value.as_int()) : Operand(value.as_float());
}

/// If `stop` is missing, `start` is the end of the range, which begins at 0.
Tensor arange(const GivenNumber& start, const GivenNumber& stop, const GivenNumber& step,
              OptionalDType dtype) {
  const bool starts_at_zero = stop.value.is_null();
  return ops::arange(starts_at_zero ? Operand(0) : number_in(start.value),
                     number_in(starts_at_zero ? start.value : stop.value),
                     step.value.is_null() ? Operand(1) : number_in(step.value), dtype);
}

Value linspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint, bool retstep,
               OptionalDType dtype, int axis) {
  const Value values =
      Codec<Tensor>::encode(ops::linspace(start, stop, num, endpoint, dtype, axis));
  if (!retstep) return values;
  return List{values, Codec<Tensor>::encode(ops::linspace_step(start, stop, num, endpoint))};
}

Tensor eye(int64_t n, std::optional<int64_t> m, int64_t k, OptionalDType dtype) {
  return ops::eye(n, m, k, dtype);
}

Tensor convert_to_tensor(const Tensor& x, OptionalDType dtype, std::optional<bool> sparse,
                         std::optional<bool> ragged) {
  for (const auto& [option, requested] : {std::pair{"sparse", sparse}, std::pair{"ragged", ragged}})
    if (requested.value_or(false)) fail(option, " tensors are not supported: tensors are dense");
  return ops::convert_to_tensor(x, dtype);
}

template <Tensor (*F)(const Shape&, DType)>
Tensor created_with(const Shape& shape, OptionalDType dtype) {
  return F(checked_shape(shape), dtype_or_float(dtype));
}

Tensor full(const Shape& shape, const Operand& value, OptionalDType dtype) {
  return ops::full(checked_shape(shape), value, dtype_or_float(dtype));
}

}  // namespace

CRESCENT_REGISTER(creation) {
  Operations(registry, "keras.src.ops.core")
      .add("ConvertToTensor", "convert_to_tensor(x, dtype=None, sparse=None, ragged=None)",
           &convert_to_tensor, "Converts a number, a table or a tensor to a tensor.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Array", "array(x, dtype=None)", &ops::array, "The same as convert_to_tensor.")
      .add("Zeros", "zeros(shape, dtype=None)", &created_with<ops::zeros>,
           "A tensor of zeros of a shape.")
      .add("Ones", "ones(shape, dtype=None)", &created_with<ops::ones>,
           "A tensor of ones of a shape.")
      .add("Empty", "empty(shape, dtype=None)", &created_with<ops::empty>,
           "A tensor for later assignment; its elements are zeros.")
      .add("Full", "full(shape, fill_value, dtype=None)", &full,
           "A tensor of a shape filled with one value.")
      .add("ZerosLike", "zeros_like(x, dtype=None)", &ops::zeros_like,
           "A tensor of zeros with the shape of x.")
      .add("OnesLike", "ones_like(x, dtype=None)", &ops::ones_like,
           "A tensor of ones with the shape of x.")
      .add("EmptyLike", "empty_like(x, dtype=None)", &ops::empty_like,
           "A tensor for later assignment; its elements are zeros.")
      .add("FullLike", "full_like(x, fill_value, dtype=None)", &ops::full_like,
           "A tensor with the shape of x filled with one value.")
      .add("Arange", "arange(start, stop=None, step=None, dtype=None)", &arange,
           "The numbers start, start + step, ... below stop.")
      .add("Linspace",
           "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)",
           &linspace, "num evenly spaced numbers from start to stop.")
      .add("Logspace", "logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0)",
           &ops::logspace, "base to the power of num evenly spaced exponents from start to stop.")
      .add("Geomspace", "geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)",
           &ops::geomspace, "Numbers from start to stop with a constant ratio.")
      .add("Eye", "eye(N, M=None, k=0, dtype=None)", &eye,
           "A matrix with ones on the k-th diagonal.")
      .add(
          "Identity", "identity(n, dtype=None)",
          [](int64_t n, OptionalDType dtype) { return ops::identity(n, dtype_or_float(dtype)); },
          "The identity matrix.")
      .add("Tri", "tri(N, M=None, k=0, dtype=None)", &ops::tri,
           "A matrix with ones at and below the k-th diagonal.")
      .add("Tril", "tril(x, k=0)", &ops::tril,
           "The lower triangle: x with zeros above the k-th diagonal.")
      .add("Triu", "triu(x, k=0)", &ops::triu,
           "The upper triangle: x with zeros below the k-th diagonal.")
      .add("Diag", "diag(x, k=0)", &ops::diag,
           "The k-th diagonal of a matrix, or the matrix with this diagonal.")
      .add("Diagflat", "diagflat(x, k=0)", &ops::diagflat,
           "A matrix with the flattened elements of x on its k-th diagonal.")
      .add("Diagonal", "diagonal(x, offset=0, axis1=0, axis2=1)", &ops::diagonal,
           "The diagonals of matrices in two axes.")
      .add("Trace", "trace(x, offset=0, axis1=0, axis2=1)", &ops::trace,
           "The sums of the diagonals of matrices in two axes.")
      .add("Vander", "vander(x, N=None, increasing=False)", &ops::vander,
           "The Vandermonde matrix, whose columns are powers of x.")
      .add("Meshgrid", "meshgrid(*x, indexing='xy')", &ops::meshgrid,
           "The coordinates of the points of a grid, one tensor for each axis.")
      .add("Bartlett", "bartlett(x)", &ops::bartlett,
           "The Bartlett (triangular) window of x samples.")
      .add("Blackman", "blackman(x)", &ops::blackman, "The Blackman window of x samples.")
      .add("Hamming", "hamming(x)", &ops::hamming, "The Hamming window of x samples.")
      .add("Hanning", "hanning(x)", &ops::hanning, "The Hann window of x samples.")
      .add("Kaiser", "kaiser(x, beta)", &ops::kaiser, "The Kaiser window of x samples.");
}

}  // namespace crescent::operations
