#include <cmath>

#include "crescent/layer/layer.h"
#include "crescent/layer/operation.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

double mel_of(double hertz) { return 1127 * std::log(1 + hertz / 700); }

/// The matrix (frequencies, bins) of triangular filters: each begins at the centre of the previous
/// filter and ends at the centre of the next. The centres are equidistant on the mel scale.
/// Frequency 0 has no weight.
Tensor mel_weights(int64_t frequencies, int64_t bins, double sampling_rate, double lowest,
                   double highest) {
  std::vector<double> weights(frequencies * bins, 0);
  const double lowest_mel = mel_of(lowest),
               step = (mel_of(highest) - lowest_mel) / double(bins + 1);
  for (int64_t f = 1; f < frequencies; ++f) {
    const double mel = mel_of(sampling_rate / 2 * double(f) / double(frequencies - 1));
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double filter_centre = lowest_mel + step * double(bin + 1);
      weights[f * bins + bin] = std::max(0.0, 1 - std::abs(mel - filter_centre) / step);
    }
  }
  return Tensor::from(weights, {frequencies, bins});
}

Tensor power_to_decibels(const Tensor& power) { return ops::log(power) * (10 / std::log(10.0)); }

/// Computes power^(exponent / 2). For exponents between 0 and 2 the gradient at 0 would be infinite
/// and is set to 0.
Tensor raise_magnitude(const Tensor& power, double exponent) {
  if (exponent == 2) return power;
  if (exponent <= 0 || exponent > 2) return ops::power(power, exponent / 2);
  const Tensor is_positive = ops::greater(power, 0);
  return ops::where(is_positive, ops::power(ops::where(is_positive, power, 1.0), exponent / 2),
                    0.0);
}

class MelSpectrogram final : public UnaryLayer {
 public:
  static void describe(Schema<MelSpectrogram>& s) {
    s.doc(
         "The power spectrogram of sounds on the mel scale: (..., samples) -> (..., mel bins, "
         "frames).")
        .field("fft_length", &MelSpectrogram::fft_length_,
               "Size of the Fourier transform in samples.")
        .min(1)
        .max(kMaxSize)
        .field("sequence_stride", &MelSpectrogram::sequence_stride_,
               "Distance between frames in samples.")
        .min(1)
        .field("sequence_length", &MelSpectrogram::sequence_length_,
               "Size of a frame in samples; null: fft_length.")
        .min(1)
        .field("window", &MelSpectrogram::window_,
               "Window of a frame: \"hann\", \"hamming\", a list of values, or null for none.")
        .field("sampling_rate", &MelSpectrogram::sampling_rate_, "Sampling rate in Hz.")
        .min(1)
        .field("num_mel_bins", &MelSpectrogram::num_mel_bins_, "Number of mel frequency bins.")
        .min(1)
        .max(kMaxSize)
        .field("min_freq", &MelSpectrogram::lowest_hertz_, "Lowest frequency in Hz.")
        .min(0)
        .field("max_freq", &MelSpectrogram::highest_hertz_,
               "Highest frequency in Hz; null: half the sampling rate.")
        .field("power_to_db", &MelSpectrogram::in_decibels_, "Convert power to decibels.")
        .field("top_db", &MelSpectrogram::top_db_,
               "Limit values to at most this many decibels below the maximum.")
        .field("mag_exp", &MelSpectrogram::exponent_, "Exponent of the magnitude; 2 gives power.")
        .field("min_power", &MelSpectrogram::min_power_, "Lower limit of power, for decibels.")
        .field("ref_power", &MelSpectrogram::reference_power_, "Power of 0 decibels.");
  }
  void configured() override {
    UnaryLayer::configured();
    set_input_specs({InputSpec::with_min_ndim(1)});
    if (fft_length_ < sequence_length())
      fail(
          "`fft_length` must be greater than or equal to `sequence_length`. Received: "
          "`sequence_length`=",
          sequence_length(), ", `fft_length`=", fft_length_, ".");
    if (highest_hertz() <= lowest_hertz_)
      fail("max_freq: expected more than min_freq, which is ", lowest_hertz_, ", got ",
           highest_hertz());
  }
  Tensor call(const Tensor& x, const Call&) override {
    const bool is_float64 = compute_dtype() == DType::float64;
    const Tensor samples = ops::cast(x, is_float64 ? DType::float64 : DType::float32);
    if (x.dim(-1) < 0)  // while shapes are inferred only the shape of the result matters
      return ops::reshape(ops::cast(x, compute_dtype()),
                          x.shape().slice(0, x.rank() - 1).concat({num_mel_bins_, -1}));
    const Tensors spectrum =
        Codec<Tensors>::decode((*make<Operation>("stft"))({{"x", Codec<Tensor>::encode(samples)},
                                                           {"sequence_length", sequence_length()},
                                                           {"sequence_stride", sequence_stride_},
                                                           {"fft_length", fft_length_},
                                                           {"window", window_}}));
    const Tensor power = ops::square(spectrum[0]) + ops::square(spectrum[1]);
    const Tensor magnitude = raise_magnitude(power, exponent_);
    const Tensor weights = mel_weights(fft_length_ / 2 + 1, num_mel_bins_, double(sampling_rate_),
                                       lowest_hertz_, highest_hertz());
    Tensor mel = ops::dot(magnitude, ops::cast(weights, samples.dtype()));
    if (in_decibels_) {
      const double reference_power = std::max(std::abs(reference_power_), min_power_);
      mel = power_to_decibels(ops::maximum(mel, min_power_)) - 10 * std::log10(reference_power);
      mel = ops::maximum(mel, ops::max(mel) - top_db_);
    }
    return ops::cast(ops::swap_axes(mel, -1, -2), compute_dtype());
  }

 private:
  static constexpr double kMaxSize = 1 << 20;
  int64_t sequence_length() const { return sequence_length_.value_or(fft_length_); }
  double highest_hertz() const {
    return highest_hertz_.value_or(std::floor(double(sampling_rate_) / 2));
  }

  int64_t fft_length_ = 2048, sequence_stride_ = 512, sampling_rate_ = 16000, num_mel_bins_ = 128;
  std::optional<int64_t> sequence_length_;
  Value window_ = "hann";
  double lowest_hertz_ = 20, top_db_ = 80, exponent_ = 2, min_power_ = 1e-10, reference_power_ = 1;
  std::optional<double> highest_hertz_;
  bool in_decibels_ = true;
};

}  // namespace

CRESCENT_REGISTER(mel_spectrogram) { registry.add<MelSpectrogram>("MelSpectrogram"); }

}  // namespace crescent
