// The reference: programs as they were recorded, instruction by instruction, by plain loops over
// float64. In repetitions every result is moved, by chance, as far as arithmetic of its dtype is
// off (Rounding): how far repetitions lie from what is exact tells how far results of another order
// of additions, or with fewer roundings, may be off, element by element. Where rounding decides (a
// comparison, a floor) repetitions differ by all that hangs on it.
#pragma once
#include <cmath>
#include <optional>
#include <stdexcept>

#include "crescent/program/program.h"

namespace crescent::random_programs {

/// The values of a tensor as doubles, whatever its dtype is; real and imaginary parts of complex
/// numbers.
struct Array {
  TensorSpec spec;
  std::vector<double> values;
  std::optional<DType> half = {};  ///< the half width that it was cast from

  DType read_as() const { return half.value_or(spec.dtype); }
};
Array array_of(const Tensor& tensor);

/// Thrown if float64 says little about a program: values near the largest number of a dtype,
/// comparisons with NaN, integers that do not fit a double.
class Unreliable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Perturbs results by the error that arithmetic of their dtype may have.
class Rounding {
 public:
  Rounding() = default;  ///< by nothing
  /// Odd and even seeds differ: even ones round to the dtype, so that nearly equal numbers become
  /// equal; seed 1 rounds to nearest; half of the odd ones perturb by little, so that nearly equal
  /// numbers change their order.
  explicit Rounding(uint64_t seed)
      : state_(seed * 2654435761u + 12345),
        is_on_(true),
        rounds_(seed % 2 == 1),
        reads_(seed % 4 == 2),
        scale_(seed == 1           ? 0
               : seed % 4 % 3 == 0 ? 1.0 / 16
                                   : 1) {}

  bool is_exact() const { return !is_on_; }

  /// The result of an operation with an error of `units` roundings of itself and one rounding of
  /// `extra` in the precision of sums. Without units it is exact.
  double operator()(double result, DType dtype, double units, double extra = 0);
  /// The same for an operation on a and b that is exact for short numbers (small multiples of 1/4).
  double of_arithmetic(double a, double b, double result, DType dtype);
  /// The same for a + b, whose error may be that of each operand if a factor is multiplied in
  /// before: (a + b) * c as a * c + b * c.
  double of_sum(double a, double b, DType dtype);
  /// A number as an instruction reads it: a half-width value may have been rounded there or kept in
  /// float32 by a fused kernel.
  double of_reading(double x, DType dtype);

 private:
  double random();  ///< -1..1 times the scale
  static bool is_short(double result, DType dtype);
  uint64_t state_ = 0;
  bool is_on_ = false, rounds_ = false, reads_ = false;
  double scale_ = 1;
};

/// The error of a sum in roundings of its sum of magnitudes; a long sum consists of partial sums.
inline double roundings_of_sum(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 16;
}
/// The same for a sum whose terms are added one by one, as scatter does for repeated indices.
inline double roundings_one_by_one(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 4;
}

/// Interprets a program. The inputs are those of Program::inputs, followed by its variables.
std::vector<Array> interpret(const Program& program, const std::vector<Array>& inputs,
                             Rounding rounding = {});

/// The inputs of one instruction.
using Arrays = std::vector<const Array*>;
struct Call {
  const Op& op;
  Arrays in;
  std::vector<Array>& out;  ///< with specs, and values of 0
  Rounding& rounding;
  bool is_scaled = false;  ///< the result is multiplied: the factor may go into an input
};
/// Each function computes the call if its op is of that family, and returns whether it is.
bool interpret_elementwise(const Call& call);
bool interpret_moves(const Call& call);
bool interpret_sums(const Call& call);
bool interpret_windows(const Call& call);
bool interpret_matrices(const Call& call);
bool interpret_signals(const Call& call);
bool interpret_bits(const Call& call);

/// Throws Unreliable if the numbers are nearly equal, so that rounding decides a comparison or a
/// cancellation.
void refuse_near(double a, double b, DType dtype);

double smallest_normal(DType dtype);
double largest(DType dtype);
double unit_of(DType dtype);  ///< of rounding; 0 for integers
/// The nearest number of the dtype; integers wrap around.
double nearest(double value, DType dtype);

/// Iterates over the positions of a shape, the last axis first.
class Places {
 public:
  explicit Places(const Shape& shape) : shape_(shape), at_(static_cast<size_t>(shape.rank())) {}
  const std::vector<int64_t>& at() const { return at_; }
  void next() {
    for (size_t i = at_.size(); i-- > 0;) {
      if (++at_[i] < shape_.begin()[i]) return;
      at_[i] = 0;
    }
  }

 private:
  Shape shape_;
  std::vector<int64_t> at_;
};
std::vector<int64_t> strides_of(const Shape& shape);

}  // namespace crescent::random_programs
