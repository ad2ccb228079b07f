// Fourier transforms along the last axis or the last two.
#include "crescent/ops/fourier.h"

#include "crescent/ops/arguments.h"
#include "ops/fourier/fourier_ops.h"
#include "ops/fourier/lengths.h"

namespace crescent::ops {
namespace {

using ComplexTensor = std::tuple<Tensor, Tensor>;

ComplexTensor complex_tensor(const Tensors& parts) { return {parts[0], parts[1]}; }

ComplexTensor fourier(const ComplexTensor& x, int sign) {
  return complex_tensor(fourier_of(std::get<0>(x), std::get<1>(x), sign));
}

ComplexTensor checked_complex_tensor(const char* name, std::span<const Tensor> x) {
  if (x.size() != 2 || !x[0].shape().compatible(x[1].shape()) || x[0].rank() < 1)
    fail(name, ": expected real and imaginary parts of one shape, got ", x.size(), " tensors");
  return {floating(x[0]), floating(x[1])};
}

ComplexTensor with_last_axes_swapped(const ComplexTensor& x) {
  return {swap_axes(std::get<0>(x), -1, -2), swap_axes(std::get<1>(x), -1, -2)};
}

ComplexTensor fourier_over_two_axes(const ComplexTensor& x, int sign) {
  return with_last_axes_swapped(fourier(with_last_axes_swapped(fourier(x, sign)), sign));
}

}  // namespace

Tensor with_length(const Tensor& x, int64_t length) {
  const int64_t n = x.dim(-1);
  if (n >= length) return slice_axis(x, -1, 0, length);
  std::vector<int64_t> before(static_cast<size_t>(x.rank()), 0), after = before;
  after.back() = length - n;
  return pad(x, before, after);
}

std::tuple<Tensor, Tensor> fft(std::span<const Tensor> x) {
  return fourier(checked_complex_tensor("fft", x), -1);
}

std::tuple<Tensor, Tensor> fft2(std::span<const Tensor> x) {
  return fourier_over_two_axes(checked_complex_tensor("fft2", x), -1);
}
std::tuple<Tensor, Tensor> ifft2(std::span<const Tensor> x) {
  const auto [re, im] = fourier_over_two_axes(checked_complex_tensor("ifft2", x), 1);
  const auto count = static_cast<double>(re.dim(-1) * re.dim(-2));
  return {re / count, im / count};
}

std::tuple<Tensor, Tensor> rfft(const Tensor& input, std::optional<int64_t> fft_length) {
  const Tensor x = floating(input);
  const int64_t n = fft_length.value_or(x.dim(-1));
  if (n < 1) fail("rfft: expected a length of at least 1, got ", n);
  return complex_tensor(fourier_of_real(with_length(x, n)));
}

Tensor irfft(std::span<const Tensor> x, std::optional<int64_t> fft_length) {
  const auto [re, im] = checked_complex_tensor("irfft", x);
  const int64_t n = fft_length.value_or(2 * (re.dim(-1) - 1)), half_length = n / 2 + 1;
  if (n < 1) fail("irfft: expected a length of at least 1, got ", n);
  const Tensor front_re = with_length(re, half_length), front_im = with_length(im, half_length);
  if (n % 2 == 0) return real_of_fourier(front_re, front_im);
  // The transform of real numbers has conjugate elements at the frequencies k and -k = n - k, so
  // the second half is gathered from the first half with the sign of the imaginary part changed.
  std::vector<int32_t> indices;
  std::vector<float> signs;
  for (int64_t k = 0; k < n; ++k) {
    const bool is_mirrored = k >= half_length;
    indices.push_back(static_cast<int32_t>(is_mirrored ? n - k : k));
    signs.push_back(k == 0        ? 0.0f
                    : is_mirrored ? -1.0f
                                  : 1.0f);  // the element at frequency 0 is real
  }
  const Tensor frequency_indices = Tensor::from(indices, {n});
  const Tensor sign = cast(Tensor::from(signs, {n}), re.dtype());
  const ComplexTensor full_spectrum{gather(front_re, frequency_indices, -1),
                                    gather(front_im, frequency_indices, -1) * sign};
  return std::get<0>(fourier(full_spectrum, 1)) / static_cast<double>(n);
}

}  // namespace crescent::ops
