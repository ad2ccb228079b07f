#include "ops/cases.h"

#include <cmath>

#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "distance.h"

namespace crescent::test {

In positive(const Shape& shape) { return {shape, 0.5, 2.5}; }
In unit(const Shape& shape) { return {shape, -0.9, 0.9}; }
In indices(const Shape& shape, int64_t count) { return {shape, 0, double(count), DType::int32}; }
In booleans(const Shape& shape) { return {shape, 0, 2, DType::boolean}; }

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const auto& family : {elementwise_cases(), shape_cases(), reduction_cases(),
                               product_cases(), compound_cases(), operation_cases()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return cases;
}

Tensor draw(const In& in, DType dtype, uint64_t stream) {
  std::vector<double> values(static_cast<size_t>(in.shape.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = philox(11, stream, i).word[0] * 0x1p-32;
    values[i] = in.low + u * (in.high - in.low);
    if (!is_floating(in.dtype)) values[i] = std::floor(values[i]);
    if (is_integer(dtype) && in.dtype == DType::float64)
      values[i] = std::floor(std::abs(values[i]) * 3) + 1;
  }
  const DType wanted = in.dtype == DType::float64 ? dtype : in.dtype;
  return ops::cast(Tensor::from(values, in.shape), wanted);
}

Tensors draw(const Case& c, DType dtype) {
  Tensors inputs;
  for (const In& in : c.inputs) inputs.push_back(draw(in, dtype, inputs.size()));
  return inputs;
}

std::vector<DType> dtypes_of(Dtypes dtypes) {
  switch (dtypes) {
    case Dtypes::floats:
      return {DType::float64, DType::float32, DType::bfloat16, DType::float16};
    case Dtypes::wide:
      return {DType::float64, DType::float32};
    case Dtypes::numbers:
      return {DType::float64, DType::float32, DType::bfloat16, DType::float16,
              DType::int32,   DType::int64,   DType::uint8};
    case Dtypes::one:
      break;
  }
  return {DType::float64};
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-10;
    case DType::float32:
      return 2e-6;
    case DType::float16:
      return 4e-3;
    case DType::bfloat16:
      return 3e-2;
    default:
      return 0;
  }
}

double difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  return farthest(x, y) / magnitude(y, 1);
}

Tensor weighted_sum(const Tensors& outputs) {
  Tensor sum;
  for (const Tensor& y : outputs) {
    if (!is_floating(y.dtype())) continue;
    const Tensor weights =
        draw(In{y.shape(), -1, 1}, DType::float64, 77 + static_cast<uint64_t>(y.rank()));
    const Tensor part = ops::sum(ops::cast(y, DType::float64) * weights);
    sum = sum ? sum + part : part;
  }
  return sum;
}

Tensors gradients(const Case& c, const Tensors& inputs) {
  GradientTape tape;
  for (const Tensor& x : inputs) {
    if (is_floating(x.dtype())) tape.watch(x);
  }
  const Tensor loss = weighted_sum(c.run(inputs));
  return tape.gradient(loss, inputs);
}

}  // namespace crescent::test
