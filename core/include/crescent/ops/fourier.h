// Fourier transforms of the last axis or the last two. A complex tensor is passed as two tensors of
// one shape, the real and the imaginary part. Integers are cast to float32, and half-width floats
// are transformed in float32.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// The Fourier transform: (..., n) -> (..., n). All functions that take a span fail unless it has
/// two tensors of one shape.
CRESCENT_API std::tuple<Tensor, Tensor> fft(std::span<const Tensor> x);
/// The Fourier transform over the last two axes: (..., m, n) -> (..., m, n).
CRESCENT_API std::tuple<Tensor, Tensor> fft2(std::span<const Tensor> x);
CRESCENT_API std::tuple<Tensor, Tensor> ifft2(std::span<const Tensor> x);  ///< the inverse of fft2
/// The Fourier transform of real x: (..., n) -> (..., fft_length / 2 + 1), the nonnegative
/// frequencies. x is truncated or zero-padded to fft_length, which must be at least 1.
CRESCENT_API std::tuple<Tensor, Tensor> rfft(const Tensor& x,
                                             std::optional<int64_t> fft_length = {});
/// The inverse of rfft: (..., k) -> real (..., fft_length), by default 2 (k - 1).
CRESCENT_API Tensor irfft(std::span<const Tensor> x, std::optional<int64_t> fft_length = {});

/// The window function by which frames are multiplied: "hann", "hamming", a tensor of the values
/// (sequence_length), or nullopt for none.
struct CRESCENT_API Window {
  Window(const char* window) : name(window) {}
  Window(std::string window) : name(std::move(window)) {}
  Window(const Tensor& window) : values(window) {}
  Window(std::nullopt_t) {}
  std::optional<std::string> name;
  Tensor values;
};
/// The short-time Fourier transform: real (..., n) -> (..., frames, fft_length / 2 + 1), with a
/// frame every sequence_stride samples. With `center`, x is padded by reflection so that the first
/// frame is centred on the first sample. Fails unless 1 <= sequence_length <= fft_length, and if x
/// is too short.
CRESCENT_API std::tuple<Tensor, Tensor> stft(const Tensor& x, int64_t sequence_length,
                                             int64_t sequence_stride, int64_t fft_length,
                                             const Window& window = "hann", bool center = true);
/// The inverse of stft: (..., frames, fft_length / 2 + 1) -> real signal (..., length). Without a
/// window, overlapping frames are added and not normalized.
CRESCENT_API Tensor istft(std::span<const Tensor> x, int64_t sequence_length,
                          int64_t sequence_stride, int64_t fft_length,
                          std::optional<int64_t> length = {}, const Window& window = "hann",
                          bool center = true);

}  // namespace crescent::ops
