// Matrix and tensor products.
#include "crescent/ops/products.h"

#include "crescent/registry/registration.h"
#include "given_numbers.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

Tensor matmul(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }

/// `axes` is the number of axes to sum over, or a list with the axes of each operand.
Tensor tensordot(const Tensor& a, const Tensor& b, const GivenIntegers& given_axes) {
  const Value& axes = given_axes.value;
  if (axes.is_int()) return ops::tensordot(a, b, axes.as_int());
  if (axes.as_list().size() != 2)
    fail("tensordot: axes must be a number or two lists of axes, got ", axes);
  using Axes = std::vector<int>;
  return ops::tensordot(a, b, Codec<Axes>::decode(axes.as_list()[0]),
                        Codec<Axes>::decode(axes.as_list()[1]));
}

}  // namespace

CRESCENT_REGISTER(products) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Matmul", "matmul(x1, x2)", &matmul,
           "The matrix product of the last two axes; the axes before are broadcast.")
      .add("Dot", "dot(x1, x2)", &ops::dot,
           "The dot product: sums over the last axis of x1 and the last but one of x2.")
      .add("Inner", "inner(x1, x2)", &ops::inner,
           "Sums of products over the last axes of both tensors.")
      .add("Outer", "outer(x1, x2)", &ops::outer,
           "The outer product: the products of all elements of x1 with all elements of x2.")
      .add("Vdot", "vdot(x1, x2)", &ops::vdot,
           "The sum of the products of all elements; x1 is conjugated.")
      .add("Tensordot", "tensordot(x1, x2, axes=2)", &tensordot,
           "Sums of products over the given axes of both tensors.")
      .add("Kron", "kron(x1, x2)", &ops::kron, "The Kronecker product.")
      .add("Cross", "cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None)", &ops::cross,
           "The cross product of vectors along an axis.")
      .add("Einsum", "einsum(subscripts, *operands)", &ops::einsum,
           "Sums of products by Einstein's notation: \"ij,jk->ik\".")
      .add("Correlate", "correlate(x1, x2, mode='valid')", &ops::correlate,
           "The cross-correlation of two sequences.")
      .add("Corrcoef", "corrcoef(x)", &ops::corrcoef, "The correlation coefficients between rows.");
  Operations(registry, "keras.src.ops.math")
      .add("CDist", "cdist(x, y)", &ops::cdist,
           "The distance between each row of x and each row of y.");
}

}  // namespace crescent::operations
