// The reference: interprets a recorded program, instruction by instruction, with plain loops in
// float64. In repetitions every result is randomly perturbed within the rounding error of its dtype
// (Rounding). The spread of the repetitions says, element by element, which errors another order of
// additions or fewer roundings may cause. Where rounding decides a result (a comparison, a floor),
// the spread includes all consequences.
#pragma once
#include <cmath>
#include <optional>
#include <stdexcept>

#include "crescent/program/program.h"
#include "random/reference/equalities.h"

namespace crescent::random_programs {

/// The values of a tensor of any dtype; for complex numbers the real and the imaginary parts.
struct Array {
  TensorSpec spec;
  std::vector<double> values;
  /// The 16-bit floating-point dtype from which the values were cast, if they were.
  std::optional<DType> half_dtype = {};

  DType read_as() const { return half_dtype.value_or(spec.dtype); }
};
Array array_of(const Tensor& tensor);

/// Thrown for a program that the reference cannot check: it comes near the largest number of a
/// dtype, compares NaN, or has integers that float64 cannot represent.
class Unreliable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Perturbs results by the rounding error of their dtype.
class Rounding {
 public:
  Rounding() = default;  ///< makes a Rounding that perturbs nothing
  /// With an odd seed results are rounded to numbers of the dtype, so that nearly equal results
  /// become equal; seed 1 rounds to the nearest number, so that equal numbers stay equal. Half of
  /// the seeds perturb only a little, so that only nearly equal numbers change their order.
  explicit Rounding(uint64_t seed)
      : state_(seed * 2654435761u + 12345),
        is_perturbing_(true),
        rounds_results_(seed % 2 == 1),
        rounds_inputs_(seed % 4 == 2),
        scale_(seed == 1           ? 0
               : seed % 4 % 3 == 0 ? 1.0 / 16
                                   : 1) {}

  bool is_exact() const { return !is_perturbing_; }

  /// Returns the result of an operation, perturbed by `units` rounding errors of the result and by
  /// one rounding error of a number as large as `extra_magnitude`, in the precision of sums. If
  /// `units` is 0 the result is exact.
  double operator()(double result, DType dtype, double units, double extra_magnitude = 0);
  /// Returns the result of an operation on a and b, perturbed by its error. It is exact for short
  /// numbers, that is, small multiples of 1/4. Other results may be exact in one order of
  /// operations and not in another.
  double of_arithmetic(double a, double b, double result, DType dtype);
  /// Returns the sum a + b, perturbed by its error, which may be that of each term, because a
  /// factor may be multiplied into the terms: (a + b) * c becomes a * c + b * c.
  double of_sum(double a, double b, DType dtype);
  /// A number as an operation reads it. A 16-bit float may have been rounded before or not, because
  /// fused steps keep intermediate values in float32.
  double of_reading(double x, DType dtype);

 private:
  double random();  ///< a random number from -1 to 1 times the scale
  static bool is_short(double result, DType dtype);
  uint64_t state_ = 0;
  bool is_perturbing_ = false, rounds_results_ = false, rounds_inputs_ = false;
  double scale_ = 1;
};

/// The rounding error of a sum, divided by the sum of the terms' magnitudes and by the unit
/// roundoff. It grows with the square root of the number of terms, because the errors of single
/// additions are independent. It is smaller than roundings_one_by_one(), because long sums consist
/// of partial sums.
inline double roundings_of_sum(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 16;
}
/// The same for a sum whose terms are added one by one, such as an element of a scatter to which
/// many indices refer.
inline double roundings_one_by_one(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 4;
}

/// The outputs of the program. `inputs` are the values of Program::inputs, followed by the values
/// of its variables. `equalities`, unless null, collects the results of comparisons for equality.
std::vector<Array> interpret(const Program& program, const std::vector<Array>& inputs,
                             Rounding rounding = {}, Equalities* equalities = nullptr);

/// One instruction, with its inputs and results.
using Arrays = std::vector<const Array*>;
struct Call {
  const Op& op;
  Arrays in;
  std::vector<Array>& out;  ///< the specs are already set; all values are 0
  Rounding& rounding;
  /// Collects, for each equality comparison of floats, which elements are equal; may be null.
  Equalities* equalities = nullptr;
  /// Whether the result is multiplied later, and the factor may be moved to an input.
  bool is_scaled = false;
};
/// Computes the call if its op is elementwise; otherwise returns false.
bool interpret_elementwise(const Call& call);
bool interpret_moves(const Call& call);
bool interpret_sums(const Call& call);
bool interpret_windows(const Call& call);
bool interpret_matrices(const Call& call);
bool interpret_signals(const Call& call);
bool interpret_bits(const Call& call);

/// Throws Unreliable if a and b are so nearly equal that rounding decides a comparison, or nearly 0
/// by the cancellation of larger numbers.
void refuse_near(double a, double b, DType dtype);

double smallest_normal(DType dtype);
double largest(DType dtype);
double unit_of(DType dtype);  ///< unit roundoff; 0 for integers
/// The nearest number of the dtype; integers wrap around.
double nearest(double value, DType dtype);

/// Iterates over the indices of a shape, the last axis fastest.
class IndexIterator {
 public:
  explicit IndexIterator(const Shape& shape)
      : shape_(shape), index_(static_cast<size_t>(shape.rank())) {}
  const std::vector<int64_t>& at() const { return index_; }
  void next() {
    for (size_t i = index_.size(); i-- > 0;) {
      if (++index_[i] < shape_.begin()[i]) return;
      index_[i] = 0;
    }
  }

 private:
  Shape shape_;
  std::vector<int64_t> index_;
};
std::vector<int64_t> strides_of(const Shape& shape);

}  // namespace crescent::random_programs
