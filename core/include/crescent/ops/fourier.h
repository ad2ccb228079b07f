// Fourier transforms of the last axis or two. Complex numbers are two tensors of one shape, the
// real and the imaginary parts; whole numbers become float32 first, half-width floats are
// transformed in float32.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// (..., n) -> (..., n); fails unless x is two tensors of one shape, as the others do.
CRESCENT_API std::tuple<Tensor, Tensor> fft(std::span<const Tensor> x);
/// (..., m, n) -> (..., m, n): of the last two axes.
CRESCENT_API std::tuple<Tensor, Tensor> fft2(std::span<const Tensor> x);
CRESCENT_API std::tuple<Tensor, Tensor> ifft2(std::span<const Tensor> x);  ///< the inverse of fft2
/// Real (..., n) -> (..., length / 2 + 1), the first half; x is cut or filled with zeros to a
/// length that is given, which is at least 1.
CRESCENT_API std::tuple<Tensor, Tensor> rfft(const Tensor& x,
                                             std::optional<int64_t> fft_length = {});
/// The inverse of rfft: (..., k) -> real (..., length), of 2 (k - 1) unless it is given.
CRESCENT_API Tensor irfft(std::span<const Tensor> x, std::optional<int64_t> fft_length = {});

/// What the numbers of a frame are multiplied by: "hann", "hamming", as many values as a frame is
/// long, or nothing.
struct CRESCENT_API Window {
  Window(const char* window) : name(window) {}
  Window(std::string window) : name(std::move(window)) {}
  Window(const Tensor& window) : values(window) {}
  Window(std::nullopt_t) {}
  std::optional<std::string> name;
  Tensor values;
};
/// Real (..., n) -> (..., frames, fft_length / 2 + 1), a frame at every stride; centered: x
/// continued by its reflection, so that the first frame has its first number in the middle. Fails
/// unless 1 <= sequence_length <= fft_length, and where x is too short.
CRESCENT_API std::tuple<Tensor, Tensor> stft(const Tensor& x, int64_t sequence_length,
                                             int64_t sequence_stride, int64_t fft_length,
                                             const Window& window = "hann", bool center = true);
/// (..., frames, fft_length / 2 + 1) -> the real signal (..., length) that it comes from; without a
/// window the sum of the frames.
CRESCENT_API Tensor istft(std::span<const Tensor> x, int64_t sequence_length,
                          int64_t sequence_stride, int64_t fft_length,
                          std::optional<int64_t> length = {}, const Window& window = "hann",
                          bool center = true);

}  // namespace crescent::ops
