// Operations whose results or arguments are booleans.
#include "crescent/ops/elementwise.h"
#include "crescent/ops/sorting.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// assume_unique allows an optimization that is not needed here.
Tensor isin(const Tensor& x, const Tensor& among, bool /*assume_unique*/, bool invert) {
  return ops::isin(x, among, invert);
}

/// Without x1 and x2: the indices of the elements that are not zero.
Value where_or_places(const Tensor& condition, const Value& x1, const Value& x2) {
  if (x1.is_null() != x2.is_null()) fail("where: expected both x1 and x2 or none of them");
  if (x1.is_null()) return Codec<Tensors>::encode(ops::nonzero(condition));
  return Codec<Tensor>::encode(
      ops::where(condition, Codec<NumberOrTensor>::decode(x1), Codec<NumberOrTensor>::decode(x2)));
}

}  // namespace

CRESCENT_REGISTER(comparisons) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Equal", "equal(x1, x2)", &ops::equal, "Whether x1 is x2, element by element.")
      .add("NotEqual", "not_equal(x1, x2)", &ops::not_equal,
           "Whether x1 is not x2, element by element.")
      .add("Less", "less(x1, x2)", &ops::less, "Whether x1 is below x2, element by element.")
      .add("LessEqual", "less_equal(x1, x2)", &ops::less_equal,
           "Whether x1 is not above x2, element by element.")
      .add("Greater", "greater(x1, x2)", &ops::greater,
           "Whether x1 is above x2, element by element.")
      .add("GreaterEqual", "greater_equal(x1, x2)", &ops::greater_equal,
           "Whether x1 is not below x2, element by element.")
      .add("LogicalAnd", "logical_and(x1, x2)", &ops::logical_and, "Whether both are true.")
      .add("LogicalOr", "logical_or(x1, x2)", &ops::logical_or, "Whether one of them is true.")
      .add("LogicalXor", "logical_xor(x1, x2)", &ops::logical_xor,
           "Whether exactly one of them is true.")
      .add("LogicalNot", "logical_not(x)", &ops::logical_not, "Whether x is false.")
      .add("Isnan", "isnan(x)", &ops::isnan, "Whether x is not a number.")
      .add("Isfinite", "isfinite(x)", &ops::isfinite,
           "Whether x is neither infinite nor not a number.")
      .add("Isinf", "isinf(x)", &ops::isinf, "Whether x is infinite.")
      .add("Isposinf", "isposinf(x)", &ops::isposinf, "Whether x is plus infinity.")
      .add("Isneginf", "isneginf(x)", &ops::isneginf, "Whether x is minus infinity.")
      .add("Isclose", "isclose(x1, x2, @rtol=1e-05, @atol=1e-08, equal_nan=False)", &ops::isclose,
           "|x1 - x2| <= atol + rtol |x2|")
      .add("AllClose", "allclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False)", &ops::allclose,
           "Whether all elements differ by at most atol + rtol * |x2|.")
      .add("IsIn", "isin(x1, x2, assume_unique=False, invert=False)", &isin,
           "Which elements of x1 are among x2.")
      .add("Where", "where(condition, @x1=None, @x2=None)", &where_or_places,
           "x1 where the condition is true, else x2; of the condition alone, the places where it "
           "is true.")
      .add("Select", "select(condlist, choicelist, default=0)", &ops::select,
           "The choice of the first condition that holds.");
}

}  // namespace crescent::operations
