// Reference implementations of Fourier transforms, by their defining sums.
#include <cmath>
#include <complex>
#include <numbers>

#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

using Row = std::vector<std::complex<double>>;

/// Computes sum x_k exp(sign 2 pi i j k / n) for the first elements j of `transformed`.
void transform(const Row& x, int sign, Row& transformed) {
  const size_t n = x.size();
  Row roots_of_unity(n);
  for (size_t k = 0; k < n; ++k)
    roots_of_unity[k] = std::polar(
        1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (size_t j = 0; j < transformed.size(); ++j) {
    double re = 0, im = 0;
    size_t root_index = 0;
    for (const std::complex<double>& number : x) {
      re += number.real() * roots_of_unity[root_index].real() -
            number.imag() * roots_of_unity[root_index].imag();
      im += number.real() * roots_of_unity[root_index].imag() +
            number.imag() * roots_of_unity[root_index].real();
      root_index += root_index + j < n ? j : j - n;
    }
    transformed[j] = {re, im};
  }
}

/// Transforms complex or real rows along the last axis. `complete_element` returns element k of the
/// complete row, derived from the elements that are given.
template <class CompleteElement>
void transform_rows(const Call& call, size_t n, int sign, double scale,
                    CompleteElement complete_element) {
  const Array& re = *call.in[0];
  const auto input_length = static_cast<size_t>(re.spec.shape[-1]),
             output_length = static_cast<size_t>(call.out[0].spec.shape[-1]);
  Row x(n), y(output_length);
  for (size_t row = 0; row < re.values.size() / input_length; ++row) {
    double square = 0;
    for (size_t k = 0; k < n; ++k) {
      x[k] = complete_element(row * input_length, k);
      square += std::norm(x[k]);
    }
    if (!std::isfinite(square)) throw Unreliable("a row that is not finite");
    transform(x, sign, y);
    // Each stage of a fast transform rounds numbers that are as large as the norm of the row.
    const double extra = std::sqrt(square) * std::log2(static_cast<double>(n)) * scale;
    const auto store_result = [&](size_t result_index, size_t j, double value) {
      Array& out = call.out[result_index];
      // If the terms of a sum of 16-bit floats nearly cancel, the sum consists of rounding errors.
      const DType input_dtype = call.in[0]->read_as();
      if (size_of(input_dtype) == 2 && call.rounding.is_exact() && value != 0 &&
          std::abs(value * scale) < 4 * unit_of(input_dtype) * extra)
        throw Unreliable("nearly 0 after larger numbers have met");
      out.values[row * output_length + j] = call.rounding(value * scale, out.spec.dtype, 1, extra);
    };
    for (size_t j = 0; j < output_length; ++j) {
      store_result(0, j, y[j].real());
      if (call.out.size() > 1) store_result(1, j, y[j].imag());
    }
  }
}

void interpret_fourier(const Call& call) {
  const int sign = call.op.text() == "operations.fourier(1)" ? 1 : -1;
  const auto n = static_cast<size_t>(call.in[0]->spec.shape[-1]);
  transform_rows(call, n, sign, 1, [&](size_t row, size_t k) {
    return std::complex<double>(call.in[0]->values[row + k], call.in[1]->values[row + k]);
  });
}

void interpret_real_fourier(const Call& call) {
  const auto n = static_cast<size_t>(call.in[0]->spec.shape[-1]);
  transform_rows(call, n, -1, 1, [&](size_t row, size_t k) {
    return std::complex<double>(call.in[0]->values[row + k]);
  });
}

/// The inverse real transform: the second half of the spectrum is the mirrored conjugate of the
/// first, and elements that are their own mirror images have no imaginary part.
void interpret_real_of_fourier(const Call& call) {
  const auto n = static_cast<size_t>(call.out[0].spec.shape[-1]);
  transform_rows(call, n, 1, 1 / static_cast<double>(n), [&](size_t row, size_t k) {
    const size_t source_index = row + std::min(k, n - k);
    const double sign = k == 0 || 2 * k == n ? 0 : 2 * k < n ? 1 : -1;
    return std::complex<double>(call.in[0]->values[source_index],
                                sign * call.in[1]->values[source_index]);
  });
}

}  // namespace

bool interpret_signals(const Call& call) {
  const std::string_view name = call.op.name();
  if (name == "operations.fourier")
    interpret_fourier(call);
  else if (name == "operations.real_fourier")
    interpret_real_fourier(call);
  else if (name == "operations.real_of_fourier")
    interpret_real_of_fourier(call);
  else
    return false;
  return true;
}

}  // namespace crescent::random_programs
