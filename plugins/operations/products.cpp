// Sums of products.
#include "crescent/ops/products.h"

#include "families.h"
#include "kernels/distances.h"

namespace crescent::operations {
namespace {

Tensor matmul(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }

/// A number of axes, or two lists of them.
Tensor tensordot(const Tensor& a, const Tensor& b, const Value& axes) {
  if (axes.is_int()) return ops::tensordot(a, b, axes.as_int());
  if (!axes.is_list() || axes.as_list().size() != 2)
    fail("tensordot: axes must be a number or two lists of axes, got ", axes);
  using Axes = std::vector<int>;
  return ops::tensordot(a, b, Codec<Axes>::decode(axes.as_list()[0]),
                        Codec<Axes>::decode(axes.as_list()[1]));
}

}  // namespace

void add_products(Registry& registry) {
  add_distances_kernel(registry);
  Operations(registry, "keras.src.ops.numpy")
      .add("Matmul", "matmul(x1, x2)", &matmul)
      .add("Dot", "dot(x1, x2)", &ops::dot)
      .add("Inner", "inner(x1, x2)", &ops::inner)
      .add("Outer", "outer(x1, x2)", &ops::outer)
      .add("Vdot", "vdot(x1, x2)", &ops::vdot)
      .add("Tensordot", "tensordot(x1, x2, axes=2)", &tensordot)
      .add("Kron", "kron(x1, x2)", &ops::kron)
      .add("Cross", "cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None)", &ops::cross)
      .add("Einsum", "einsum(subscripts, *operands)", &ops::einsum)
      .add("Correlate", "correlate(x1, x2, mode='valid')", &ops::correlate)
      .add("Corrcoef", "corrcoef(x)", &ops::corrcoef);
  Operations(registry, "keras.src.ops.math")
      .add("CDist", "cdist(x, y)", &ops::cdist, "Distances of each row of x from each of y.");
}

}  // namespace crescent::operations
