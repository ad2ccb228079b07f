// Operations whose results or arguments are booleans.
#include "crescent/ops/elementwise.h"
#include "crescent/ops/sorting.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// The parameter assume_unique of Keras only allows an optimization, and is ignored.
Tensor isin(const Tensor& x, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
  return ops::isin(x, test_elements, invert);
}

/// Without x1 and x2, returns the indices of the elements of `condition` that are not zero.
Value where_or_indices(const Tensor& condition, const Value& x1, const Value& x2) {
  if (x1.is_null() != x2.is_null()) fail("where: expected both x1 and x2 or none of them");
  if (x1.is_null()) return Codec<Tensors>::encode(ops::nonzero(condition));
  return Codec<Tensor>::encode(
      ops::where(condition, Codec<NumberOrTensor>::decode(x1), Codec<NumberOrTensor>::decode(x2)));
}

}  // namespace

CRESCENT_REGISTER(comparisons) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Equal", "equal(x1, x2)", &ops::equal, "Whether x1 equals x2, element by element.")
      .add("NotEqual", "not_equal(x1, x2)", &ops::not_equal,
           "Whether x1 differs from x2, element by element.")
      .add("Less", "less(x1, x2)", &ops::less, "Whether x1 < x2, element by element.")
      .add("LessEqual", "less_equal(x1, x2)", &ops::less_equal,
           "Whether x1 <= x2, element by element.")
      .add("Greater", "greater(x1, x2)", &ops::greater, "Whether x1 > x2, element by element.")
      .add("GreaterEqual", "greater_equal(x1, x2)", &ops::greater_equal,
           "Whether x1 >= x2, element by element.")
      .add("LogicalAnd", "logical_and(x1, x2)", &ops::logical_and,
           "The logical and, element by element.")
      .add("LogicalOr", "logical_or(x1, x2)", &ops::logical_or,
           "The logical or, element by element.")
      .add("LogicalXor", "logical_xor(x1, x2)", &ops::logical_xor,
           "The logical exclusive or, element by element.")
      .add("LogicalNot", "logical_not(x)", &ops::logical_not,
           "The logical not, element by element.")
      .add("Isnan", "isnan(x)", &ops::isnan, "Whether x is NaN, element by element.")
      .add("Isfinite", "isfinite(x)", &ops::isfinite,
           "Whether x is neither infinite nor NaN, element by element.")
      .add("Isinf", "isinf(x)", &ops::isinf, "Whether x is infinite, element by element.")
      .add("Isposinf", "isposinf(x)", &ops::isposinf,
           "Whether x is positive infinity, element by element.")
      .add("Isneginf", "isneginf(x)", &ops::isneginf,
           "Whether x is negative infinity, element by element.")
      .add("Isclose", "isclose(x1, x2, @rtol=1e-05, @atol=1e-08, equal_nan=False)", &ops::isclose,
           "Whether |x1 - x2| <= atol + rtol * |x2|, element by element.")
      .add("AllClose", "allclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False)", &ops::allclose,
           "Whether |x1 - x2| <= atol + rtol * |x2| holds for all elements.")
      .add("IsIn", "isin(x1, x2, assume_unique=False, invert=False)", &isin,
           "Whether each element of x1 occurs in x2.")
      .add("Where", "where(condition, @x1=None, @x2=None)", &where_or_indices,
           "x1 where the condition is true, else x2; with the condition alone, the indices of its "
           "true elements.")
      .add("Select", "select(condlist, choicelist, default=0)", &ops::select,
           "For each element the choice of the first condition that holds.");
}

}  // namespace crescent::operations
