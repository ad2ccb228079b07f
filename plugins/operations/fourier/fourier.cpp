// Fourier transforms of the last axis or two. Complex numbers are pairs of tensors: real and
// imaginary parts.
#include "kernels/fourier.h"

#include <cmath>
#include <numbers>

#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"

namespace crescent::operations {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

Pair pair(const Tensors& both) { return {both[0], both[1]}; }

Pair fourier(const Pair& x, int sign) {
  return pair(fourier_of(std::get<0>(x), std::get<1>(x), sign));
}

Pair pair_of(const char* name, const Tensors& x) {
  if (x.size() != 2 || !x[0].shape().compatible(x[1].shape()) || x[0].rank() < 1)
    fail(name, ": expected real and imaginary parts of one shape, got ", x.size(), " tensors");
  return {floating(x[0]), floating(x[1])};
}

Pair swapped(const Pair& x) {
  return {ops::swap_axes(std::get<0>(x), -1, -2), ops::swap_axes(std::get<1>(x), -1, -2)};
}

Pair fft(const Tensors& x) { return fourier(pair_of("fft", x), -1); }

Pair over_two_axes(const Pair& x, int sign) {
  return swapped(fourier(swapped(fourier(x, sign)), sign));
}
Pair fft2(const Tensors& x) { return over_two_axes(pair_of("fft2", x), -1); }
Pair ifft2(const Tensors& x) {
  const auto [re, im] = over_two_axes(pair_of("ifft2", x), 1);
  const auto count = static_cast<double>(re.dim(-1) * re.dim(-2));
  return {re / count, im / count};
}

/// Cut, or filled with zeros, to a length of the last axis.
Tensor of_length(const Tensor& x, int64_t length) {
  const int64_t n = x.dim(-1);
  if (n >= length) return ops::slice_axis(x, -1, 0, length);
  std::vector<int64_t> before(x.rank(), 0), after = before;
  after.back() = length - n;
  return ops::pad(x, before, after);
}

/// Of real numbers: the first half of the result, which says it all.
Pair rfft(const Tensor& given, std::optional<int64_t> fft_length) {
  const Tensor x = floating(given);
  const int64_t n = fft_length.value_or(x.dim(-1));
  if (n < 1) fail("rfft: expected a length of at least 1, got ", n);
  return pair(fourier_of_real(of_length(x, n)));
}

Tensor irfft(const Tensors& x, std::optional<int64_t> fft_length) {
  const auto [re, im] = pair_of("irfft", x);
  const int64_t n = fft_length.value_or(2 * (re.dim(-1) - 1)), half = n / 2 + 1;
  if (n < 1) fail("irfft: expected a length of at least 1, got ", n);
  const Tensor front_re = of_length(re, half), front_im = of_length(im, half);
  if (n % 2 == 0) return real_of_fourier(front_re, front_im);
  // What belongs to frequency -k is the conjugate of that of k.
  std::vector<int32_t> places;
  std::vector<float> signs;
  for (int64_t k = 0; k < n; ++k) {
    const bool mirrored = k >= half;
    places.push_back(static_cast<int32_t>(mirrored ? n - k : k));
    signs.push_back(k == 0 ? 0.0f : mirrored ? -1.0f : 1.0f);  // the first is real
  }
  const Tensor at = Tensor::from(places, {n});
  const Tensor sign = ops::cast(Tensor::from(signs, {n}), re.dtype());
  const Pair full{ops::gather(front_re, at, -1), ops::gather(front_im, at, -1) * sign};
  return std::get<0>(fourier(full, 1)) / static_cast<double>(n);
}

// ---- short times

/// A name, or its values, as a window of fft_length with zeros around it; nothing: ones.
Tensor window_of(const Value& window, int64_t length, int64_t fft_length, DType dtype) {
  Tensor values;
  if (window.is_null()) {
    values = ops::ones({length}, dtype);
  } else if (window.is_string()) {
    const bool hann = window == Value("hann");
    if (!hann && window != Value("hamming"))
      fail("window must be 'hann', 'hamming', values or null, got ", window);
    std::vector<double> numbers;
    for (int64_t i = 0; i < length; ++i) {
      const double wave =
          std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
      numbers.push_back(hann ? 0.5 - 0.5 * wave : 0.54 - 0.46 * wave);
    }
    values = ops::cast(Tensor::from(numbers, {length}), dtype);
  } else {
    values = ops::cast(Codec<Tensor>::decode(window), dtype);
    if (values.rank() != 1 || values.dim(0) != length)
      fail("window: expected ", length, " values, got shape ", values.shape());
  }
  const int64_t before = (fft_length - length) / 2;
  return ops::pad(values, {before}, {fft_length - length - before});
}

void check_lengths(const char* name, int64_t length, int64_t stride, int64_t fft_length) {
  if (length < 1 || stride < 1 || fft_length < length)
    fail(name, ": expected a sequence_length of 1 to fft_length and a stride of at least 1, got ",
         length, ", ", fft_length, " and ", stride);
}

/// The last axis continued by its reflection.
Tensor reflected(const Tensor& x, int64_t width) {
  const int64_t n = x.dim(-1);
  if (n <= width) fail("stft: ", n, " values are too few to center windows of ", 2 * width);
  std::vector<int32_t> places;
  for (int64_t i = -width; i < n + width; ++i)
    places.push_back(static_cast<int32_t>(i < 0 ? -i : i < n ? i : 2 * n - 2 - i));
  return ops::gather(x, Tensor::from(places, {n + 2 * width}), -1);
}

Pair stft(const Tensor& given, int64_t length, int64_t stride, int64_t fft_length,
          const Value& window, bool center) {
  check_lengths("stft", length, stride, fft_length);
  Tensor x = floating(given);
  if (center) x = reflected(x, fft_length / 2);
  const int64_t count = (x.dim(-1) - fft_length) / stride + 1;
  if (x.dim(-1) < fft_length)
    fail("stft: shape ", given.shape(), " is shorter than a window of ", fft_length);
  const Tensor places = positions(count, 0, 2) * stride + positions(fft_length, 1, 2);
  const Tensor frames =
      ops::gather(x, places, -1) * window_of(window, length, fft_length, x.dtype());
  return rfft(frames, fft_length);
}

/// Frames (..., count, length) added where they belong: (..., length + stride * (count - 1)).
Tensor overlapped(const Tensor& frames, int64_t stride) {
  const int64_t count = frames.dim(-2), length = frames.dim(-1);
  const int64_t total = length + stride * (count - 1);
  Tensor sum;
  for (int64_t i = 0; i < count; ++i) {
    heed_interruption("frames were added up");
    const Tensor frame = ops::squeeze(ops::slice_axis(frames, -2, i, i + 1), -2);
    std::vector<int64_t> before(frame.rank(), 0), after = before;
    before.back() = i * stride;
    after.back() = total - length - i * stride;
    const Tensor placed = ops::pad(frame, before, after);
    sum = sum ? sum + placed : placed;
  }
  return sum;
}

Tensor istft(const Tensors& x, int64_t length, int64_t stride, int64_t fft_length,
             std::optional<int64_t> wanted, const Value& window, bool center) {
  check_lengths("istft", length, stride, fft_length);
  const Tensor frames = irfft(x, fft_length);
  // Without a window, as Keras has it, whole frames are added and not divided.
  const bool plain = window.is_null();
  const Tensor weights = plain ? Tensor() : window_of(window, length, fft_length, frames.dtype());
  const Tensor sum = overlapped(plain ? frames : frames * weights, stride);
  const int64_t start = center ? fft_length / 2 : 0, end = sum.dim(-1) - start;
  const auto part = [&](const Tensor& whole) {
    return wanted ? of_length(ops::slice_axis(whole, -1, start, whole.dim(-1)), *wanted)
                  : ops::slice_axis(whole, -1, start, end);
  };
  if (plain) return part(sum);
  const Tensor square = ops::broadcast_to(ops::square(weights), Shape{frames.dim(-2), fft_length});
  const Tensor scale = overlapped(square, stride);
  const Tensor covered = ops::greater(scale, 1e-11);
  return part(ops::where(covered, sum / ops::where(covered, scale, 1.0), sum));
}

}  // namespace

CRESCENT_REGISTER(fourier) {
  Operations(registry, "keras.src.ops.math")
      .add("FFT", "fft(x)", &fft, "Of a list: real and imaginary parts.")
      .add("FFT2", "fft2(x)", &fft2,
           "The Fourier transform over the last two axes, of real and imaginary parts.")
      .add("IFFT2", "ifft2(x)", &ifft2, "The inverse of fft2.")
      .add(
          "RFFT", "rfft(x, fft_length=None)", &rfft,
          "The Fourier transform of real numbers along the last axis, as real and imaginary parts.")
      .add("IRFFT", "irfft(x, fft_length=None)", &irfft, "The inverse of rfft.")
      .add("STFT",
           "stft(x, sequence_length, sequence_stride, fft_length, window='hann', center=True)",
           &stft, "Spectra of windows.")
      .add("ISTFT",
           "istft(x, sequence_length, sequence_stride, fft_length, length=None, window='hann', "
           "center=True)",
           &istft, "The signal that a short-time Fourier transform comes from.");
}

}  // namespace crescent::operations
