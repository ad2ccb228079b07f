// What gives truth values, and what takes them.
#include <cmath>

#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/searchsorted.h"

namespace crescent::operations {
namespace {

Tensor never(const Tensor& x) { return ops::cast(ops::zeros_like(x), DType::boolean); }

Tensor is_infinite(const Tensor& x) {
  if (!is_floating(x.dtype())) return never(x);
  return ops::logical_not(ops::logical_or(ops::isfinite(x), ops::isnan(x)));
}

template <bool Positive>
Tensor is_signed_infinity(const Tensor& x) {
  return ops::logical_and(is_infinite(x), Positive ? ops::greater(x, 0) : ops::less(x, 0));
}

Tensor isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  auto [x, y] = promoted(a, b);
  x = floating(x), y = floating(y);
  const Tensor near = ops::less_equal(ops::abs(x - y), ops::abs(y) * rtol + atol);
  const Tensor finite = ops::logical_and(ops::isfinite(x), ops::isfinite(y));
  const Tensor close = ops::logical_or(ops::equal(x, y), ops::logical_and(near, finite));
  if (!equal_nan) return close;
  return ops::logical_or(close, ops::logical_and(ops::isnan(x), ops::isnan(y)));
}

Tensor allclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return ops::all(isclose(a, b, rtol, atol, equal_nan));
}

Tensor isin(const Tensor& x, const Tensor& among, bool /*assume_unique*/, bool invert) {
  auto [values, set] = promoted(x, among);
  const Tensor each = ops::reshape(set, {-1});
  const bool plain = values.dtype() != DType::string && values.dtype() != DType::complex64;
  if (plain) return apply_isin(values, each, invert);
  const Tensor found = ops::any(ops::equal(ops::expand_dims(values, -1), each), {-1});
  return invert ? ops::logical_not(found) : found;
}

Tensor logical_xor(const Operand& a, const Operand& b) {
  return ops::not_equal(ops::cast(tensor_of(a), DType::boolean),
                        ops::cast(tensor_of(b), DType::boolean));
}

/// Without x1 and x2: the places of what is not zero.
Value where_or_places(const Tensor& condition, const Value& x1, const Value& x2) {
  if (x1.is_null() != x2.is_null()) fail("where: expected both x1 and x2 or none of them");
  if (x1.is_null()) return Codec<Tensors>::encode(nonzero(condition));
  return Codec<Tensor>::encode(
      ops::where(condition, Codec<NumberOrTensor>::decode(x1), Codec<NumberOrTensor>::decode(x2)));
}

/// The choice of the first condition that holds.
Tensor select(const Tensors& conditions, const Tensors& choices, const Operand& otherwise) {
  if (conditions.size() != choices.size() || conditions.empty())
    fail("select: expected as many choices as conditions, got ", choices.size(), " and ",
         conditions.size());
  const Tensors values = promoted(choices);
  Tensor result = promoted(values.front(), otherwise).second;
  for (size_t i = values.size(); i-- > 0;)
    result = ops::where(ops::cast(conditions[i], DType::boolean), values[i], result);
  return result;
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
      .add("LogicalXor", "logical_xor(x1, x2)", &logical_xor,
           "Whether exactly one of them is true.")
      .add("LogicalNot", "logical_not(x)", &ops::logical_not, "Whether x is false.")
      .add("Isnan", "isnan(x)", &ops::isnan, "Whether x is not a number.")
      .add("Isfinite", "isfinite(x)", &ops::isfinite,
           "Whether x is neither infinite nor not a number.")
      .add("Isinf", "isinf(x)", &is_infinite, "Whether x is infinite.")
      .add("Isposinf", "isposinf(x)", &is_signed_infinity<true>, "Whether x is plus infinity.")
      .add("Isneginf", "isneginf(x)", &is_signed_infinity<false>, "Whether x is minus infinity.")
      .add("Isclose", "isclose(x1, x2, @rtol=1e-05, @atol=1e-08, equal_nan=False)", &isclose,
           "|x1 - x2| <= atol + rtol |x2|")
      .add("AllClose", "allclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False)", &allclose,
           "Whether all elements differ by at most atol + rtol * |x2|.")
      .add("IsIn", "isin(x1, x2, assume_unique=False, invert=False)", &isin,
           "Which elements of x1 are among x2.")
      .add("Where", "where(condition, @x1=None, @x2=None)", &where_or_places,
           "x1 where the condition is true, else x2; of the condition alone, the places where it "
           "is true.")
      .add("Select", "select(condlist, choicelist, default=0)", &select,
           "The choice of the first condition that holds.");
}

}  // namespace crescent::operations
