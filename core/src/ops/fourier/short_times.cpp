// Short-time Fourier transforms: transforms of the frames of a signal.
#include <cmath>
#include <numbers>

#include "crescent/ops/arguments.h"
#include "crescent/ops/fourier.h"
#include "crescent/system/interrupt.h"
#include "ops/fourier/lengths.h"

namespace crescent::ops {
namespace {

Tensor cosine_window(bool is_hann, int64_t length) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < length; ++i) {
    const double cosine =
        std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
    numbers.push_back(is_hann ? 0.5 - 0.5 * cosine : 0.54 - 0.46 * cosine);
  }
  return Tensor::from(numbers, {length});
}

Tensor window_values(const Window& window, int64_t length, DType dtype) {
  if (window.name) {
    const bool is_hann = *window.name == "hann";
    if (!is_hann && *window.name != "hamming")
      fail("window must be 'hann', 'hamming', values or null, got ", Value(*window.name));
    return cast(cosine_window(is_hann, length), dtype);
  }
  if (!window.values) return ones({length}, dtype);
  const Tensor values = cast(window.values, dtype);
  if (values.rank() != 1 || values.dim(0) != length)
    fail("window: expected ", length, " values, got shape ", values.shape());
  return values;
}

/// The values of the window, padded with zeros on both sides to fft_length numbers.
Tensor padded_window(const Window& window, int64_t length, int64_t fft_length, DType dtype) {
  const int64_t padding_before = (fft_length - length) / 2;
  return pad(window_values(window, length, dtype), {padding_before},
             {fft_length - length - padding_before});
}

bool is_empty_window(const Window& window) { return !window.name && !window.values; }

void check_lengths(const char* name, int64_t length, int64_t stride, int64_t fft_length) {
  if (length < 1 || stride < 1 || fft_length < length)
    fail(name, ": expected a sequence_length of 1 to fft_length and a stride of at least 1, got ",
         length, ", ", fft_length, " and ", stride);
}

/// Returns x with its last axis extended by reflection, by `width` elements at both ends.
Tensor extended_by_reflection(const Tensor& x, int64_t width) {
  const int64_t n = x.dim(-1);
  if (n <= width) fail("stft: ", n, " values are too few to center windows of ", 2 * width);
  std::vector<int32_t> indices;
  for (int64_t i = -width; i < n + width; ++i)
    indices.push_back(static_cast<int32_t>(i < 0 ? -i : i < n ? i : 2 * n - 2 - i));
  return gather(x, Tensor::from(indices, {n + 2 * width}), -1);
}

/// Adds up overlapping frames (..., count, length) to a signal of length + stride * (count - 1).
Tensor overlap_add(const Tensor& frames, int64_t stride) {
  const int64_t count = frames.dim(-2), length = frames.dim(-1);
  const int64_t total_length = length + stride * (count - 1);
  Tensor sum;
  for (int64_t i = 0; i < count; ++i) {
    heed_interruption("frames were added up");
    const Tensor frame = squeeze(slice_axis(frames, -2, i, i + 1), -2);
    std::vector<int64_t> before(static_cast<size_t>(frame.rank()), 0), after = before;
    before.back() = i * stride;
    after.back() = total_length - length - i * stride;
    const Tensor padded_frame = pad(frame, before, after);
    sum = sum ? sum + padded_frame : padded_frame;
  }
  return sum;
}

}  // namespace

std::tuple<Tensor, Tensor> stft(const Tensor& input, int64_t length, int64_t stride,
                                int64_t fft_length, const Window& window, bool center) {
  check_lengths("stft", length, stride, fft_length);
  Tensor x = floating(input);
  if (center) x = extended_by_reflection(x, fft_length / 2);
  const int64_t count = (x.dim(-1) - fft_length) / stride + 1;
  if (x.dim(-1) < fft_length)
    fail("stft: shape ", input.shape(), " is shorter than a window of ", fft_length);
  const Tensor indices = positions(count, 0, 2) * stride + positions(fft_length, 1, 2);
  const Tensor frames =
      gather(x, indices, -1) * padded_window(window, length, fft_length, x.dtype());
  return rfft(frames, fft_length);
}

Tensor istft(std::span<const Tensor> x, int64_t length, int64_t stride, int64_t fft_length,
             std::optional<int64_t> requested_length, const Window& window, bool center) {
  check_lengths("istft", length, stride, fft_length);
  const Tensor frames = irfft(x, fft_length);
  // Without a window, frames are added without normalization, as in Keras.
  const bool has_no_window = is_empty_window(window);
  const Tensor weights =
      has_no_window ? Tensor() : padded_window(window, length, fft_length, frames.dtype());
  const Tensor sum = overlap_add(has_no_window ? frames : frames * weights, stride);
  const int64_t signal_begin = center ? fft_length / 2 : 0, signal_end = sum.dim(-1) - signal_begin;
  const auto trim = [&](const Tensor& signal) {
    return requested_length ? with_length(slice_axis(signal, -1, signal_begin, signal.dim(-1)),
                                          *requested_length)
                            : slice_axis(signal, -1, signal_begin, signal_end);
  };
  if (has_no_window) return trim(sum);
  const Tensor squared_window = broadcast_to(square(weights), Shape{frames.dim(-2), fft_length});
  const Tensor window_sum = overlap_add(squared_window, stride);
  const Tensor is_covered = greater(window_sum, 1e-11);
  return trim(where(is_covered, sum / where(is_covered, window_sum, 1.0), sum));
}

}  // namespace crescent::ops
