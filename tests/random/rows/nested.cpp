// Generators of random calls (CallGenerator in draft.h) for nested programs: scans whose bodies are
// drawn at random too.
#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

constexpr int64_t kMaxSteps = 9;

/// Whether a value broadcasts to the shape of the carry.
bool broadcasts_to(const Shape& carry, const Shape& x) {
  if (x.rank() > carry.rank()) return false;
  for (int i = 1; i <= x.rank(); ++i)
    if (x[-i] != carry[-i] && x[-i] != 1) return false;
  return true;
}

/// A new value of the scan's body, with the shape and dtype of the carry.
int step(Draft& body, const TensorSpec& carry) {
  const auto broadcasts_to_carry = [&](const TensorSpec& s) {
    return s.dtype == carry.dtype && broadcasts_to(carry.shape, s.shape);
  };
  const auto random_value = [&] {
    for (int try_count = 0; try_count < 6; ++try_count) {
      const int value = static_cast<int>(body.choices.below(body.value_count()));
      if (broadcasts_to_carry(body.spec(value))) return value;
    }
    return 0;
  };
  const int a = random_value(), b = random_value();
  const auto binary = [&](const char* function) {
    return body.call(function, {{"x1", a}, {"x2", b}});
  };
  constexpr const char* kUnaryFunctions[] = {"tanh", "sigmoid", "relu", "negative", "abs"};
  constexpr const char* kBinaryFunctions[] = {"add", "subtract", "maximum", "minimum"};
  switch (body.choices.below(6)) {
    case 0:
    case 1:
      return binary(body.choices.one_of(kBinaryFunctions));
    case 2:
      return body.call("tanh", {{"x", binary("multiply")}});
    case 3: {
      const int x = body.call("mean", {{"x", a}, {"axis", Value(-1)}, {"keepdims", Value(true)}});
      return body.call("subtract", {{"x1", b}, {"x2", x}});
    }
    case 4: {  // a product with a square matrix, if the body has one
      for (int w = 0; w < body.value_count(); ++w) {
        const Shape& matrix_shape = body.shape(w);
        const int64_t n = carry.shape[-1];
        if (matrix_shape != Shape{n, n} || body.dtype(w) != carry.dtype || carry.shape.rank() != 2)
          continue;
        const int y = body.call("matmul", {{"x1", a}, {"x2", w}});
        return body.call("tanh", {{"x", y}});
      }
      return binary("add");
    }
    default:
      return body.call(body.choices.one_of(kUnaryFunctions), {{"x", a}});
  }
}

int scan(Draft& d) {
  Shape shape;
  const int rank = 1 + static_cast<int>(d.choices.below(2));
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 8, 17, 33, 64};
  for (int i = 0; i < rank; ++i) shape.append(d.choices.one_of(kSizes));
  const TensorSpec carry{d.floating_dtype(), shape};
  const int64_t steps = 1 + d.choices.below(kMaxSteps);
  const auto value_with_spec = [&](const TensorSpec& wanted) {
    return d.operand([&](const TensorSpec& s) { return s == wanted; }, [&] { return wanted; });
  };
  const int start = value_with_spec(carry),
            sequence = value_with_spec({carry.dtype, Shape{steps}.concat(shape)});
  std::vector<int> captured;
  Tensors locals{Tensor::abstract(carry), Tensor::abstract(carry)};
  if (d.choices.one_in(2)) captured.push_back(value_with_spec({carry.dtype, {shape[-1]}}));
  if (d.choices.one_in(2))
    captured.push_back(value_with_spec({carry.dtype, {shape[-1], shape[-1]}}));
  for (int value : captured) locals.push_back(Tensor::abstract(d.spec(value)));

  Draft body(d, locals);
  int last_value = 0;
  for (int64_t remaining = 1 + d.choices.below(4); remaining > 0; --remaining)
    last_value = step(body, carry);
  Node node;
  node.stacks_outputs = d.choices.one_in(2) && body.value_count() > static_cast<int>(locals.size());
  // The last value is the next carry, so it needs the spec of the carry.
  const int carry_sum = body.call("add", {{"x1", last_value}, {"x2", 0}});
  const int next_carry = body.call("multiply", {{"x1", carry_sum}, {"x2", Value(0.5)}});
  if (!(body.spec(next_carry) == carry)) fail("another carry");
  node.body = body.recipe.nodes;
  node.arguments = {{"init", start}, {"xs", sequence}, {"captured", captured}};
  if (d.choices.one_in(2)) node.arguments.push_back({"reverse", Value(true)});
  const bool stacks_outputs = node.stacks_outputs;
  return d.scan(std::move(node), stacks_outputs ? static_cast<size_t>(d.choices.below(2)) : 0);
}

}  // namespace

std::vector<CallGenerator> nested_generators() {
  return {{"scan", scan}, {"scan", scan}, {"scan", scan}};
}

}  // namespace crescent::random_programs
