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

/// Values of a tensor, whatever its dtype is; of complex numbers the real and the imaginary parts.
struct Array {
  TensorSpec spec;
  std::vector<double> values;
  std::optional<DType> half = {};  ///< the half width that it was cast from

  DType read_as() const { return half.value_or(spec.dtype); }
};
Array array_of(const Tensor& tensor);

/// The program computes what float64 says little about: it comes near the largest number of a
/// dtype, compares NaN, or has integers that do not fit a float64.
class Unreliable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a result of a dtype is off.
class Rounding {
 public:
  Rounding() = default;  ///< by nothing
  /// Every other seed gives numbers of the dtype, which meet where others only come near; 1 gives
  /// the nearest, so that equal numbers stay equal, and half of them move numbers by little, so
  /// that nearly equal ones change places.
  explicit Rounding(uint64_t seed)
      : state_(seed * 2654435761u + 12345),
        is_on_(true),
        rounds_(seed % 2 == 1),
        reads_(seed % 4 == 2),
        scale_(seed == 1           ? 0
               : seed % 4 % 3 == 0 ? 1.0 / 16
                                   : 1) {}

  bool is_exact() const { return !is_on_; }

  /// The result of an operation that is off by `units` roundings of itself, and by one of `extra`
  /// in the precision that sums are made in. Without units it is exact.
  double operator()(double result, DType dtype, double units, double extra = 0);
  /// The same of an operation on a and b that is exact for short numbers: multiples of 1/4 that are
  /// not large. Others may be exact in one order and not in another.
  double of_arithmetic(double a, double b, double result, DType dtype);
  /// The same of a + b, which may be off by what each of them is where a factor is multiplied in
  /// before: (a + b) * c as a * c + b * c.
  double of_sum(double a, double b, DType dtype);
  /// A number where it is read: one of a half width may have been rounded there, and not elsewhere,
  /// as steps that run as one keep what is between them in float32.
  double of_reading(double x, DType dtype);

 private:
  double random();  ///< -1..1 times the scale
  static bool is_short(double result, DType dtype);
  uint64_t state_ = 0;
  bool is_on_ = false, rounds_ = false, reads_ = false;
  double scale_ = 1;
};

/// Roundings of the sum of magnitudes that a sum is off: a long one is made of parts, each of which
/// is off by some more.
inline double roundings_of_sum(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 16;
}
/// The same of a sum whose terms are added one by one, as those of a place that many indices name.
inline double roundings_one_by_one(int64_t terms) {
  return 1 + std::sqrt(static_cast<double>(terms)) / 4;
}

/// Outputs of the program. Inputs follow Program::inputs, then come its variables.
std::vector<Array> interpret(const Program& program, const std::vector<Array>& inputs,
                             Rounding rounding = {});

/// Results of one instruction. Null functions: see `kernels`.
using Arrays = std::vector<const Array*>;
struct Call {
  const Op& op;
  Arrays in;
  std::vector<Array>& out;  ///< with specs, and values of 0
  Rounding& rounding;
  bool is_scaled = false;  ///< the result is multiplied: the factor may go into an input
};
/// Computes the call if it is of such a kind.
bool interpret_elementwise(const Call& call);
bool interpret_moves(const Call& call);
bool interpret_sums(const Call& call);
bool interpret_windows(const Call& call);
bool interpret_matrices(const Call& call);
bool interpret_signals(const Call& call);
bool interpret_bits(const Call& call);

/// Numbers that are nearly equal are equal or not by how they were rounded, and so is what is
/// nearly 0 after larger numbers have met: throws Unreliable.
void refuse_near(double a, double b, DType dtype);

double smallest_normal(DType dtype);
double largest(DType dtype);
double unit_of(DType dtype);  ///< of rounding; 0 for integers
/// The number of the dtype that is nearest; integers wrap around.
double nearest(double value, DType dtype);

/// Counts through the places of a shape, the last axis first.
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
