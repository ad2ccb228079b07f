// Tensors made from numbers, and parts of matrices.
#include "crescent/ops/creation.h"

#include "families.h"

namespace crescent::operations {
namespace {

using MaybeType = std::optional<DType>;

DType or_float(MaybeType dtype) { return dtype.value_or(DType::float32); }

/// A number, whole as it is written.
Operand number_in(const Value& value) {
  if (!value.is_number()) fail("arange: expected numbers, got ", value);
  return value.is_int() ? Operand(value.as_int()) : Operand(value.as_float());
}

/// Without an end the first number is the end.
Tensor arange(const Value& start, const Value& stop, const Value& step, MaybeType dtype) {
  const Value from = stop.is_null() ? Value(0) : start, to = stop.is_null() ? start : stop;
  return ops::arange(number_in(from), number_in(to), step.is_null() ? Operand(1) : number_in(step),
                     dtype);
}

Value linspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint, bool retstep,
               MaybeType dtype, int axis) {
  const Value values =
      Codec<Tensor>::encode(ops::linspace(start, stop, num, endpoint, dtype, axis));
  if (!retstep) return values;
  return List{values, Codec<Tensor>::encode(ops::linspace_step(start, stop, num, endpoint))};
}

Tensor eye(int64_t n, std::optional<int64_t> m, int64_t k, MaybeType dtype) {
  return ops::eye(n, m, k, dtype);
}

Tensor convert_to_tensor(const Tensor& x, MaybeType dtype, std::optional<bool> sparse,
                         std::optional<bool> ragged) {
  for (const auto& [option, on] : {std::pair{"sparse", sparse}, std::pair{"ragged", ragged}})
    if (on.value_or(false)) fail(option, " tensors are not supported: tensors are dense");
  return ops::convert_to_tensor(x, dtype);
}

template <Tensor (*F)(const Shape&, DType)>
Tensor made(const Shape& shape, MaybeType dtype) {
  return F(shape, or_float(dtype));
}

Tensor full(const Shape& shape, const Operand& value, MaybeType dtype) {
  return ops::full(shape, value, or_float(dtype));
}

}  // namespace

void add_creation(Registry& registry) {
  Operations(registry, "keras.src.ops.core")
      .add("ConvertToTensor", "convert_to_tensor(x, dtype=None, sparse=None, ragged=None)",
           &convert_to_tensor);
  Operations(registry, "keras.src.ops.numpy")
      .add("Array", "array(x, dtype=None)", &ops::array)
      .add("Zeros", "zeros(shape, dtype=None)", &made<ops::zeros>)
      .add("Ones", "ones(shape, dtype=None)", &made<ops::ones>)
      .add("Empty", "empty(shape, dtype=None)", &made<ops::empty>, "Zeros, here.")
      .add("Full", "full(shape, fill_value, dtype=None)", &full)
      .add("ZerosLike", "zeros_like(x, dtype=None)", &ops::zeros_like)
      .add("OnesLike", "ones_like(x, dtype=None)", &ops::ones_like)
      .add("EmptyLike", "empty_like(x, dtype=None)", &ops::empty_like, "Zeros, here.")
      .add("FullLike", "full_like(x, fill_value, dtype=None)", &ops::full_like)
      .add("Arange", "arange(start, stop=None, step=None, dtype=None)", &arange)
      .add("Linspace",
           "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)",
           &linspace, "Evenly spaced numbers.")
      .add("Logspace", "logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0)",
           &ops::logspace, "base to the power of evenly spaced numbers.")
      .add("Geomspace", "geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)",
           &ops::geomspace, "Numbers of one ratio to the next.")
      .add("Eye", "eye(N, M=None, k=0, dtype=None)", &eye, "Ones on the k-th diagonal.")
      .add("Identity", "identity(n, dtype=None)",
           [](int64_t n, MaybeType dtype) { return ops::identity(n, or_float(dtype)); })
      .add("Tri", "tri(N, M=None, k=0, dtype=None)", &ops::tri,
           "Ones at and below the k-th diagonal.")
      .add("Tril", "tril(x, k=0)", &ops::tril, "Zeros above the k-th diagonal.")
      .add("Triu", "triu(x, k=0)", &ops::triu, "Zeros below the k-th diagonal.")
      .add("Diag", "diag(x, k=0)", &ops::diag, "A diagonal, or the matrix that has it.")
      .add("Diagflat", "diagflat(x, k=0)", &ops::diagflat)
      .add("Diagonal", "diagonal(x, offset=0, axis1=0, axis2=1)", &ops::diagonal)
      .add("Trace", "trace(x, offset=0, axis1=0, axis2=1)", &ops::trace)
      .add("Vander", "vander(x, N=None, increasing=False)", &ops::vander, "Powers of x in columns.")
      .add("Meshgrid", "meshgrid(*x, indexing='xy')", &ops::meshgrid)
      .add("Bartlett", "bartlett(x)", &ops::bartlett)
      .add("Blackman", "blackman(x)", &ops::blackman)
      .add("Hamming", "hamming(x)", &ops::hamming)
      .add("Hanning", "hanning(x)", &ops::hanning)
      .add("Kaiser", "kaiser(x, beta)", &ops::kaiser);
}

}  // namespace crescent::operations
