// Short-time Fourier transforms, computed as convolutions whose kernels are cosines and sines,
// which can be trained.
#include <bit>

#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class StftSpectrogram final : public UnaryLayer {
 public:
  static void describe(Schema<StftSpectrogram>& s) {
    s.doc(
         "The short-time Fourier transform of each channel: (batch, samples, channels) -> (batch, "
         "frames, channels x frequencies).")
        .field("mode", &StftSpectrogram::mode_,
               "Which quantity is returned for each frequency; \"stft\": the real parts, then the "
               "imaginary parts.")
        .choices({"log", "magnitude", "psd", "real", "imag", "angle", "stft"})
        .field("frame_length", &StftSpectrogram::frame_length_, "Size of a frame in samples.")
        .min(1)
        .max(1 << 20)
        .field("frame_step", &StftSpectrogram::frame_step_,
               "Distance between frames in samples; null: half of frame_length.")
        .field("fft_length", &StftSpectrogram::fft_length_,
               "Size of the Fourier transform, padded with zeros; null: the next power of two.")
        .max(1 << 20)
        .field("window", &StftSpectrogram::window_,
               "Window of a frame: \"hann\", \"hamming\", ...; null: none.")
        .field("periodic", &StftSpectrogram::periodic_,
               "Make the window periodic instead of symmetric.")
        .field("scaling", &StftSpectrogram::scaling_,
               "Normalization of the window: \"density\" or \"spectrum\"; null: none.")
        .choices({"density", "spectrum"})
        .field("padding", &StftSpectrogram::padding_,
               "\"same\": pad the sound with zeros at both ends.")
        .choices({"valid", "same"})
        .field("expand_dims", &StftSpectrogram::expand_dims_,
               "Give channels an axis of their own: the last, or the second with channels_first.")
        .field("data_format", &StftSpectrogram::data_format_,
               "Position of the channels: \"channels_last\" or \"channels_first\".")
        .choices({"channels_last", "channels_first"});
  }
  void configured() override {
    UnaryLayer::configured();
    set_input_specs({InputSpec::with_ndim(3)});
    if (frame_step_ && (*frame_step_ > frame_length_ || *frame_step_ < 1))
      fail(
          "`frame_step` should be a positive integer not greater than `frame_length`. Received "
          "frame_step=",
          *frame_step_, ", frame_length=", frame_length_);
    if (fft_length_ && *fft_length_ < frame_length_)
      fail("`fft_length` should be not less than `frame_length`. Received fft_length=",
           *fft_length_, ", frame_length=", frame_length_);
    if (fft_length_ && !std::has_single_bit(static_cast<uint64_t>(*fft_length_)))
      warn("`fft_length` is recommended to be a power of two. Received fft_length=", *fft_length_);
    real_initializer_ = wave_initializer("real");
    imaginary_initializer_ = wave_initializer("imag");
  }
  void build(const Shape&) override {
    const Shape shape{frame_length_, 1, frequency_count()};
    if (mode_ != "imag")
      real_kernel_ = add_weight("real_kernel", shape, Ref<Initializer>(real_initializer_));
    if (mode_ != "real")
      imaginary_kernel_ =
          add_weight("imag_kernel", shape, Ref<Initializer>(imaginary_initializer_));
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (!is_floating(x.dtype()))
      fail("Invalid input type. Expected `float16`, `float32` or `float64`. Received: input type=",
           x.dtype());
    const Tensor audio = channels_first() ? ops::transpose(x, {0, 2, 1}) : x;
    if (audio.dim(2) < 1) fail("the number of channels must be known, got shape ", x.shape());
    const Tensors spectra = channel_spectra(audio);
    if (expand_dims_) return ops::stack(spectra, channels_first() ? 1 : 3);
    const Tensor joined_spectra =
        spectra.size() == 1 ? spectra.front() : ops::concatenate(spectra, 2);
    return channels_first() ? ops::transpose(joined_spectra, {0, 2, 1}) : joined_spectra;
  }

 private:
  static constexpr double kEpsilon = 1e-7;

  std::shared_ptr<Initializer> wave_initializer(const char* part_name) const {
    Dict options{{"side", part_name}, {"periodic", periodic_}};
    options.set("window", window_ ? Value(*window_) : Value());
    options.set("scaling", scaling_ ? Value(*scaling_) : Value());
    return make<Initializer>("STFT", options);
  }
  bool channels_first() const { return data_format_ == "channels_first"; }
  int64_t frequency_count() const {
    const auto next_power_of_two = std::bit_ceil(static_cast<uint64_t>(frame_length_));
    return fft_length_.value_or(static_cast<int64_t>(next_power_of_two)) / 2 + 1;
  }
  /// The real or the imaginary part of the transform, (batch, times, channels * frequencies),
  /// depending on the kernel.
  Tensor transform_audio(const Tensor& audio, const Variable& kernel) const {
    const int64_t channels = audio.dim(2);
    const int64_t step = frame_step_.value_or(std::max<int64_t>(frame_length_ / 2, 1));
    const Tensor waves = ops::cast(kernel.value(), audio.dtype());
    return ops::conv(audio, channels == 1 ? waves : ops::tile(waves, {1, 1, channels}), {step},
                     padding_ == "same" ? ops::Padding::same : ops::Padding::valid, {1}, channels);
  }
  /// The spectrum of each channel in the form that the option mode gives, (batch, times,
  /// frequencies); for "stft", (batch, times, 2 * frequencies).
  Tensors channel_spectra(const Tensor& audio) const {
    const Tensor real = mode_ == "imag" ? Tensor() : transform_audio(audio, real_kernel_),
                 imaginary = mode_ == "real" ? Tensor() : transform_audio(audio, imaginary_kernel_);
    const std::vector<int64_t> sizes(audio.dim(2), frequency_count());
    if (mode_ == "real") return ops::split(real, sizes, 2);
    if (mode_ == "imag") return ops::split(imaginary, sizes, 2);
    if (mode_ == "angle") return ops::split(ops::arctan2(imaginary, real), sizes, 2);
    if (mode_ == "stft") {
      Tensors spectra = ops::split(real, sizes, 2);
      const Tensors imaginary_parts = ops::split(imaginary, sizes, 2);
      for (size_t i = 0; i < spectra.size(); ++i)
        spectra[i] = ops::concatenate(Tensors{spectra[i], imaginary_parts[i]}, 2);
      return spectra;
    }
    const Tensor power = ops::square(real) + ops::square(imaginary);
    if (mode_ == "psd") {
      Tensors spectra = ops::split(power, sizes, 2);
      for (Tensor& spectrum_part : spectra)
        spectrum_part = spectrum_part * frequency_weights(power.dtype());
      return spectra;
    }
    const Tensor magnitude = ops::sqrt(ops::maximum(power, kEpsilon));
    return ops::split(mode_ == "log" ? ops::log(ops::maximum(magnitude, kEpsilon)) : magnitude,
                      sizes, 2);
  }
  /// The weights of frequencies in a one-sided spectrum: every frequency except the first and the
  /// last also stands for the negative frequency and counts twice.
  Tensor frequency_weights(DType dtype) const {
    std::vector<double> factors(frequency_count(), 2);
    factors.front() = factors.back() = 1;
    return ops::cast(Tensor::from(factors, {frequency_count()}), dtype);
  }

  std::string mode_ = "log", padding_ = "valid";
  int64_t frame_length_ = 256;
  std::optional<int64_t> frame_step_, fft_length_;
  std::optional<std::string> window_ = "hann", scaling_ = "density", data_format_ = "channels_last";
  bool periodic_ = false, expand_dims_ = false;
  std::shared_ptr<Initializer> real_initializer_, imaginary_initializer_;
  Variable real_kernel_, imaginary_kernel_;
};

}  // namespace

CRESCENT_REGISTER(stft_spectrogram) { registry.add<StftSpectrogram>("STFTSpectrogram"); }

}  // namespace crescent
