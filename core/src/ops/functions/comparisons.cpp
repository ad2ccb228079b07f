// Comparisons and predicates, and functions of booleans.
#include "crescent/ops/elementwise.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

Tensor all_false(const Tensor& x) { return ops::cast(ops::zeros_like(x), DType::boolean); }

}  // namespace

Tensor isinf(const Tensor& x) {
  if (!is_floating(x.dtype())) return all_false(x);
  return ops::logical_not(ops::logical_or(ops::isfinite(x), ops::isnan(x)));
}
Tensor isposinf(const Tensor& x) { return ops::logical_and(isinf(x), ops::greater(x, 0)); }
Tensor isneginf(const Tensor& x) { return ops::logical_and(isinf(x), ops::less(x, 0)); }

Tensor isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  auto [x, y] = promoted(a, b);
  x = floating(x), y = floating(y);
  const Tensor is_near = ops::less_equal(ops::abs(x - y), ops::abs(y) * rtol + atol);
  const Tensor are_finite = ops::logical_and(ops::isfinite(x), ops::isfinite(y));
  const Tensor is_close = ops::logical_or(ops::equal(x, y), ops::logical_and(is_near, are_finite));
  if (!equal_nan) return is_close;
  return ops::logical_or(is_close, ops::logical_and(ops::isnan(x), ops::isnan(y)));
}

Tensor allclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return ops::all(isclose(a, b, rtol, atol, equal_nan));
}

Tensor isin(const Tensor& x, const Tensor& candidates, bool invert) {
  auto [values, candidate_values] = promoted(x, candidates);
  const Tensor flat_candidates = ops::reshape(candidate_values, {-1});
  const bool is_real_number = values.dtype() != DType::string && values.dtype() != DType::complex64;
  if (is_real_number) {
    Isin op;
    op.invert = invert;
    return apply1(op, {without_halves(values), without_halves(flat_candidates)});
  }
  const Tensor is_found = ops::any(ops::equal(ops::expand_dims(values, -1), flat_candidates), {-1});
  return invert ? ops::logical_not(is_found) : is_found;
}

Tensor logical_xor(const Operand& a, const Operand& b) {
  return ops::not_equal(ops::cast(tensor_of(a), DType::boolean),
                        ops::cast(tensor_of(b), DType::boolean));
}

Tensor select(std::span<const Tensor> conditions, std::span<const Tensor> choices,
              const Operand& otherwise) {
  if (conditions.size() != choices.size() || conditions.empty())
    fail("select: expected as many choices as conditions, got ", choices.size(), " and ",
         conditions.size());
  const Tensors values = promoted(choices);
  Tensor result = promoted(values.front(), otherwise).second;
  for (size_t i = values.size(); i-- > 0;)
    result = ops::where(ops::cast(conditions[i], DType::boolean), values[i], result);
  return result;
}

}  // namespace crescent::ops
