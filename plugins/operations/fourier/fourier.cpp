// Fourier transforms along the last axis or the last two axes. A complex tensor is a pair of
// tensors, the real and the imaginary parts.
#include "crescent/ops/fourier.h"

#include "../shared/shared.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

/// The window that an option gives: a name, the values of the window, or null for no window.
ops::Window window_in(const Value& value) {
  if (value.is_null() || value == Value(false)) return std::nullopt;
  if (value.is_string()) return value.as_string();
  return Codec<Tensor>::decode(value);
}

std::tuple<Tensor, Tensor> stft(const Tensor& x, int64_t sequence_length, int64_t sequence_stride,
                                int64_t fft_length, const Value& window, bool center) {
  return ops::stft(x, sequence_length, sequence_stride, fft_length, window_in(window), center);
}

Tensor istft(const Tensors& x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
             std::optional<int64_t> result_length, const Value& window, bool center) {
  return ops::istft(x, sequence_length, sequence_stride, fft_length, result_length,
                    window_in(window), center);
}

}  // namespace

CRESCENT_REGISTER(fourier) {
  Operations(registry, "keras.src.ops.math")
      .add("FFT", "fft(x)", &ops::fft,
           "The Fourier transform along the last axis of a list {real, imaginary}; returns such a "
           "list.")
      .add("FFT2", "fft2(x)", &ops::fft2,
           "The Fourier transform along the last two axes of a list {real, imaginary}.")
      .add("IFFT2", "ifft2(x)", &ops::ifft2,
           "The inverse of the Fourier transform along the last two axes.")
      .add(
          "RFFT", "rfft(x, fft_length=None)", &ops::rfft,
          "The Fourier transform of real numbers along the last axis, as a list {real, imaginary}.")
      .add("IRFFT", "irfft(x, fft_length=None)", &ops::irfft,
           "The inverse of the real Fourier transform.")
      .add("STFT",
           "stft(x, sequence_length, sequence_stride, fft_length, window='hann', center=True)",
           &stft, "The short-time Fourier transform: spectra of overlapping windows.")
      .add("ISTFT",
           "istft(x, sequence_length, sequence_stride, fft_length, length=None, window='hann', "
           "center=True)",
           &istft, "The inverse of the short-time Fourier transform.");
}

}  // namespace crescent::operations
