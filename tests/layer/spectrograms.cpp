// Layers of audio compared with formulas.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

double sample(int64_t batch, int64_t t, int64_t channel) {
  return std::sin(0.9 * double(t) + double(batch)) +
         0.5 * std::cos(0.31 * double(t * (channel + 1)));
}

Tensor sound(int64_t batch, int64_t samples, int64_t channels) {
  std::vector<double> values;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < samples; ++t)
      for (int64_t c = 0; c < channels; ++c) values.push_back(sample(b, t, c));
  return Tensor::from(values, {batch, samples, channels});
}

Tensor call_layer(const char* name, Dict options, const Tensor& x) {
  options.set("dtype", "float64");
  return (*make<Layer>(name, options))(x);
}

double hann(int64_t i, double period) {
  return 0.5 - 0.5 * std::cos(2 * M_PI * double(i) / period);
}

struct Complex {
  double re = 0, im = 0;
};

/// The spectrum of 8 samples padded with zeros, with a symmetric window, in density scaling.
Complex spectrum(int64_t batch, int64_t first, int64_t channel, int64_t frequency,
                 int64_t fft_length, int64_t samples) {
  double squares = 0;
  for (int64_t i = 0; i < 8; ++i) squares += std::pow(hann(i, 7), 2);
  Complex sum;
  for (int64_t i = 0; i < 8; ++i) {
    if (first + i < 0 || first + i >= samples) continue;
    const double angle = -2 * M_PI * double(i * frequency) / double(fft_length);
    const double value = sample(batch, first + i, channel) * hann(i, 7) / std::sqrt(squares);
    sum.re += value * std::cos(angle), sum.im += value * std::sin(angle);
  }
  return sum;
}

}  // namespace

TEST_CASE("STFTSpectrogram tells of windows what its mode says") {
  const Tensor x = sound(2, 20, 2);
  const auto check = [&](const char* mode, auto formula) {
    const Tensor y =
        call_layer("STFTSpectrogram", {{"mode", mode}, {"frame_length", 8}, {"frame_step", 3}}, x);
    REQUIRE(y.shape() == Shape{2, 5, 10});
    const std::vector<double> got = y.to_vector();
    size_t i = 0;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t < 5; ++t)
        for (int64_t c = 0; c < 2; ++c)
          for (int64_t f = 0; f < 5; ++f, ++i) {
            INFO(mode << " " << b << " " << t << " " << c << " " << f);
            CHECK(got[i] == Approx(formula(spectrum(b, 3 * t, c, f, 8, 20), f)).margin(1e-6));
          }
  };
  const auto power = [](Complex z) { return z.re * z.re + z.im * z.im; };
  check("real", [](Complex z, int64_t) { return z.re; });
  check("imag", [](Complex z, int64_t) { return z.im; });
  check("psd", [&](Complex z, int64_t f) { return power(z) * (f == 0 || f == 4 ? 1 : 2); });
  check("magnitude", [&](Complex z, int64_t) { return std::sqrt(std::max(power(z), 1e-7)); });
  check("log", [&](Complex z, int64_t) { return 0.5 * std::log(std::max(power(z), 1e-7)); });
  // Angles of numbers close to 0 are not compared.
  const Tensor angles =
      call_layer("STFTSpectrogram", {{"mode", "angle"}, {"frame_length", 8}, {"frame_step", 3}}, x);
  const Complex z = spectrum(0, 0, 0, 1, 8, 20);
  CHECK(angles.to_vector()[1] == Approx(std::atan2(z.im, z.re)));
}

TEST_CASE("STFTSpectrogram arranges channels, pads, and takes other lengths and windows") {
  const Tensor x = sound(2, 20, 2);
  const Dict base_options{{"mode", "real"}, {"frame_length", 8}, {"frame_step", 4}};
  const auto with_base_options = [&](const Dict& more_options) {
    Dict options = base_options;
    for (const DictEntry& entry : more_options) options.set(entry.key, entry.value);
    return options;
  };
  const Tensor spectrogram = call_layer("STFTSpectrogram", base_options, x);
  const Tensor expanded_spectrogram =
      call_layer("STFTSpectrogram", with_base_options({{"expand_dims", true}}), x);
  REQUIRE(expanded_spectrogram.shape() == Shape{2, 4, 5, 2});
  CHECK(ops::transpose(expanded_spectrogram, {0, 1, 3, 2}).to_vector() == spectrogram.to_vector());
  const Tensor first_x = ops::transpose(x, {0, 2, 1});
  const Dict channels_first = with_base_options({{"data_format", "channels_first"}});
  const Tensor y = call_layer("STFTSpectrogram", channels_first, first_x);
  REQUIRE(y.shape() == Shape{2, 10, 4});
  CHECK(ops::transpose(y, {0, 2, 1}).to_vector() == spectrogram.to_vector());
  Dict channels_first_expanded = channels_first;
  channels_first_expanded.set("expand_dims", true);
  const Tensor z = call_layer("STFTSpectrogram", channels_first_expanded, first_x);
  REQUIRE(z.shape() == Shape{2, 2, 4, 5});
  CHECK(ops::transpose(z, {0, 2, 1, 3}).to_vector() == spectrogram.to_vector());

  const Tensor complex_spectrogram = call_layer(
      "STFTSpectrogram", with_base_options({{"mode", "stft"}, {"expand_dims", true}}), x);
  REQUIRE(complex_spectrogram.shape() == Shape{2, 4, 10, 2});
  CHECK(ops::slice_axis(complex_spectrogram, 2, 0, 5).to_vector() ==
        expanded_spectrogram.to_vector());

  // 20 samples with a step of 4: 5 windows over 24 samples, of which 2 are padding at the start.
  const Tensor padded_spectrogram =
      call_layer("STFTSpectrogram", with_base_options({{"padding", "same"}}), x);
  REQUIRE(padded_spectrogram.shape() == Shape{2, 5, 10});
  CHECK(padded_spectrogram.to_vector()[0] == Approx(spectrum(0, -2, 0, 0, 8, 20).re));
  const Tensor longer_spectrogram =
      call_layer("STFTSpectrogram", with_base_options({{"fft_length", 16}}), x);
  REQUIRE(longer_spectrogram.shape() == Shape{2, 4, 18});
  CHECK(longer_spectrogram.to_vector()[3] == Approx(spectrum(0, 0, 0, 3, 16, 20).re));
  const Tensor plain_spectrogram = call_layer(
      "STFTSpectrogram", with_base_options({{"window", Value()}, {"scaling", Value()}}), x);
  double sum = 0;
  for (int64_t t = 0; t < 8; ++t) sum += sample(0, t, 0);
  CHECK(plain_spectrogram.to_vector()[0] == Approx(sum));
  CHECK(call_layer("STFTSpectrogram", {}, sound(1, 600, 1)).shape() == Shape{1, 3, 129});
  const LayerPtr layer = make<Layer>("STFTSpectrogram", base_options);
  CHECK(layer->compute_output_shape({{-1, -1, 2}}).front() == Shape{-1, -1, 10});
  REQUIRE(layer->trainable_weights().size() == 1);
}

TEST_CASE("MelSpectrogram sums the power of windows in triangles over mels") {
  constexpr int64_t kSamples = 60, kFft = 16, kLength = 12, kStride = 5, kBins = 4;
  constexpr double kRate = 100, kLow = 5, kHigh = 45;
  const Tensor x = ops::squeeze(sound(2, kSamples, 1), 2);
  const Dict options{{"fft_length", kFft},         {"sequence_stride", kStride},
                     {"sequence_length", kLength}, {"sampling_rate", 100},
                     {"num_mel_bins", kBins},      {"min_freq", kLow},
                     {"max_freq", kHigh},          {"power_to_db", false}};
  const auto mel = [](double hertz) { return 1127 * std::log(1 + hertz / 700); };
  const auto expected = [&](int64_t b, int64_t bin, int64_t frame, double exponent) {
    double sum = 0;
    for (int64_t f = 1; f <= kFft / 2; ++f) {
      // The signal is mirrored at its ends; the window is centred in the transform.
      double re = 0, im = 0;
      for (int64_t i = 0; i < kLength; ++i) {
        const int64_t window_index = i + (kFft - kLength) / 2;
        int64_t t = frame * kStride - kFft / 2 + window_index;
        t = t < 0 ? -t : t >= kSamples ? 2 * kSamples - 2 - t : t;
        const double angle = -2 * M_PI * double(window_index * f) / double(kFft);
        re += sample(b, t, 0) * hann(i, kLength) * std::cos(angle);
        im += sample(b, t, 0) * hann(i, kLength) * std::sin(angle);
      }
      const double f_mel = mel(kRate * double(f) / double(kFft)),
                   step = (mel(kHigh) - mel(kLow)) / double(kBins + 1),
                   middle = mel(kLow) + step * double(bin + 1);
      sum += std::pow(std::hypot(re, im), exponent) *
             std::max(0.0, 1 - std::abs(f_mel - middle) / step);
    }
    return sum;
  };
  const int64_t frame_count = kSamples / kStride + 1;
  const Tensor y = call_layer("MelSpectrogram", options, x);
  REQUIRE(y.shape() == Shape{2, kBins, frame_count});
  const std::vector<double> got = y.to_vector();
  std::vector<double> want;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t bin = 0; bin < kBins; ++bin)
      for (int64_t t = 0; t < frame_count; ++t) want.push_back(expected(b, bin, t, 2));
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(got[i] == Approx(want[i]).epsilon(1e-6).margin(1e-9));

  Dict magnitude_options = options;
  magnitude_options.set("mag_exp", 1);
  CHECK(call_layer("MelSpectrogram", magnitude_options, x).to_vector()[0] ==
        Approx(expected(0, 0, 0, 1)));

  Dict loud_options = options;
  loud_options.set("power_to_db", true);
  loud_options.set("top_db", 15);
  loud_options.set("ref_power", 3);
  const std::vector<double> decibels = call_layer("MelSpectrogram", loud_options, x).to_vector();
  double loudest = -1e9;
  for (double& power : want) {
    power = 10 * std::log10(std::max(power, 1e-10)) - 10 * std::log10(3);
    loudest = std::max(loudest, power);
  }
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(decibels[i] == Approx(std::max(want[i], loudest - 15)).epsilon(1e-6).margin(1e-6));

  CHECK(call_layer("MelSpectrogram", {}, ops::zeros({16000}, DType::float64)).shape() ==
        Shape{128, 32});
  const LayerPtr layer = make<Layer>("MelSpectrogram", options);
  CHECK(layer->compute_output_shape({{-1, kSamples}}).front() == Shape{-1, kBins, frame_count});
  CHECK(layer->compute_output_shape({{3, -1}}).front() == Shape{3, kBins, -1});
}

TEST_CASE("spectrograms refuse what cannot be") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(make<Layer>("MelSpectrogram", {{"fft_length", 8}, {"sequence_length", 9}}),
                    Contains("`fft_length` must be greater than or equal to"));
  CHECK_THROWS_WITH(make<Layer>("MelSpectrogram", {{"min_freq", 9000}}), Contains("max_freq"));
  CHECK_THROWS_WITH(
      (*make<Layer>("MelSpectrogram", {{"window", "flat"}}))(Tensor({4000}, DType::float32)),
      Contains("hann"));
  CHECK_THROWS_WITH(make<Layer>("STFTSpectrogram", {{"frame_step", 300}}),
                    Contains("`frame_step`"));
  CHECK_THROWS_WITH(make<Layer>("STFTSpectrogram", {{"fft_length", 100}}),
                    Contains("`fft_length`"));
  CHECK_THROWS_WITH(make<Layer>("STFTSpectrogram", {{"window", "hamm"}}), Contains("hamming"));
  CHECK_THROWS_WITH(make<Layer>("STFTSpectrogram", {{"mode", "phase"}}), Contains("mode"));
  CHECK_THROWS_WITH((*make<Layer>("STFTSpectrogram"))(Tensor({1, 300, 1}, DType::int32)),
                    Contains("Invalid input type"));
}
