#include "ops/cases.h"

#include <cmath>

#include "crescent/random.h"

namespace crescent::test {

In positive(const Shape& shape) { return {shape, 0.5, 2.5}; }
In unit(const Shape& shape) { return {shape, -0.9, 0.9}; }
In indices(const Shape& shape, int64_t count) { return {shape, 0, double(count), DType::int32}; }
In booleans(const Shape& shape) { return {shape, 0, 2, DType::boolean}; }

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const auto& family : {elementwise_cases(), shape_cases(), reduction_cases(),
                               product_cases(), compound_cases()}) {
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

}  // namespace crescent::test
