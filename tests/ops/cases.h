// The table of op cases: one row per op or function. Every case is run in four ways
// (four_ways.cpp).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"

namespace crescent::test {

/// One input: values drawn from [low, high), or integers 0..high-1 for an integer dtype.
struct In {
  Shape shape;
  double low = -2, high = 2;
  /// The value float64 stands for the dtype under test; other dtypes are used as they are.
  DType dtype = DType::float64;
};
In positive(const Shape& shape);  ///< values from [0.5, 2.5)
In unit(const Shape& shape);      ///< values from (-0.9, 0.9)
In indices(const Shape& shape, int64_t count);
In booleans(const Shape& shape);

enum class Dtypes : uint8_t {
  floats,
  wide /* float32 float64 */,
  numbers,
  one /* float64, or as drawn */
};

struct Case {
  std::string name;  ///< name of the function; a second word distinguishes its cases
  std::function<Tensors(const Tensors&)> run;
  std::vector<In> inputs;
  Dtypes dtypes = Dtypes::floats;
  bool has_gradient = true;
  double tolerance = 1;  ///< multiple of the dtype's usual tolerance
};

/// Wraps a function with one result.
template <class F>
std::function<Tensors(const Tensors&)> with_one_result(F f) {
  return [f](const Tensors& x) { return Tensors{f(x)}; };
}

std::vector<Case> elementwise_cases();
std::vector<Case> shape_cases();
std::vector<Case> reduction_cases();
std::vector<Case> product_cases();
std::vector<Case> compound_cases();
std::vector<Case> operation_cases();
const std::vector<Case>& all_cases();

/// Returns the result of f() once the device has finished all its work, so that errors of f are
/// thrown here and not in a later call.
template <class F>
auto done(F f) {
  struct QuietSynchronization {
    ~QuietSynchronization() {
      try {
        device().synchronize();
      } catch (const Error&) {
      }
    }
  } quiet;
  auto result = f();
  device().synchronize();
  return result;
}

/// Deterministic pseudo-random values for an input; `dtype` replaces float64.
Tensor draw(const In& in, DType dtype, uint64_t stream);
Tensors draw(const Case& c, DType dtype);

std::vector<DType> dtypes_of(Dtypes dtypes);
/// The usual tolerance of the dtype.
double tolerance_of(DType dtype);
/// The largest difference, relative to the largest value (at least 1). NaN equals NaN.
double difference(const Tensor& a, const Tensor& b);
/// The sum of outputs times fixed weights, so that every element has a different effect.
Tensor weighted_sum(const Tensors& outputs);
/// The gradients of weighted_sum(outputs) with respect to the floating-point inputs.
Tensors gradients(const Case& c, const Tensors& inputs);

}  // namespace crescent::test
