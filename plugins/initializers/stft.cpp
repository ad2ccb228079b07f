// Kernels of convolutions that compute a short-time Fourier transform.
#include <cmath>
#include <numbers>

#include "crescent/layer/weight_rules.h"
#include "crescent/registry/registration.h"

#include "../numbers.h"

namespace crescent {
namespace {

/// A window as a sum of cosines: the coefficients of cos(0), -cos(t), cos(2 t), -cos(3 t), ...
struct Window {
  const char* name;
  std::vector<double> coefficients;
};
const Window kWindows[] = {
    {"boxcar", {1}},
    {"hann", {0.5, 0.5}},
    {"hamming", {0.54, 0.46}},
    {"blackman", {0.42, 0.5, 0.08}},
    {"nuttall", {0.3635819, 0.4891775, 0.1365995, 0.0106411}},
    {"blackmanharris", {0.35875, 0.48829, 0.14128, 0.01168}},
    {"flattop", {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}},
};

std::vector<std::string> window_names() {
  std::vector<std::string> names;
  for (const Window& window : kWindows) names.push_back(window.name);
  return names;
}

/// The values of a window, which is periodic or symmetric.
std::vector<double> window_values(const std::string& name, int64_t length, bool is_periodic) {
  std::vector<double> values(length, 1.0);
  if (length == 1) return values;
  const double period = double(is_periodic ? length : length - 1);
  for (const Window& window : kWindows) {
    if (window.name != name) continue;
    for (int64_t i = 0; i < length; ++i) {
      double value = 0, sign = 1;
      for (size_t k = 0; k < window.coefficients.size(); ++k, sign = -sign)
        value += sign * window.coefficients[k] *
                 std::cos(2 * std::numbers::pi * double(k) * double(i) / period);
      values[size_t(i)] = value;
    }
  }
  return values;
}

class Stft final : public Initializer {
 public:
  static void describe(Schema<Stft>& s) {
    s.doc("The cosines or sines of a Fourier transform as a kernel (frame, channels, frequencies).")
        .field("side", &Stft::part_name_, "\"real\" (cosines) or \"imag\" (sines).")
        .choices({"real", "imag"})
        .field("window", &Stft::window_,
               "Window of a frame: its name, or a list or tensor of its values; null: none.")
        .choices(window_names())
        .field("scaling", &Stft::scaling_, "Normalization of the window; null: none.")
        .choices({"density", "spectrum"})
        .field("periodic", &Stft::periodic_, "Make the window periodic instead of symmetric.");
  }
  void configured() override {
    if (window_ == Value(false)) window_ = Value();
    if (!window_.is_null() && !window_.is_string())
      window_ = value_of(numbers_in(window_, "option 'window'"));
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    if (shape.rank() != 3)
      fail("STFT: expected a kernel of shape (frame, channels, frequencies), got ", shape);
    const int64_t frame_length = shape[0], channels = shape[1], frequencies = shape[2];
    const double fft_length = 2.0 * double(frequencies - 1);
    std::vector<double> scale(frame_length, 1.0);
    if (!window_.is_null()) scale = scaled_window(window_of(frame_length));
    std::vector<float> values;
    values.reserve(shape.size());
    for (int64_t t = 0; t < frame_length; ++t)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t f = 0; f < frequencies; ++f) {
          const double angle =
              fft_length == 0 ? 0 : -2 * std::numbers::pi * double(t) * double(f) / fft_length;
          const double wave = part_name_ == "real" ? std::cos(angle) : std::sin(angle);
          values.push_back(static_cast<float>(wave * scale[size_t(t)]));
        }
    return ops::cast(Tensor::from(values, shape), dtype);
  }

 private:
  std::vector<double> window_of(int64_t frame_length) const {
    if (window_.is_string()) return window_values(window_.as_string(), frame_length, periodic_);
    const Numbers numbers = numbers_in(window_, "option 'window'");
    if (!(numbers.shape == Shape{frame_length}))
      fail("STFT: expected a window of shape ", Shape{frame_length}, ", got ", numbers.shape);
    return numbers.values;
  }
  std::vector<double> scaled_window(std::vector<double> window) const {
    double sum_of_squares = 0, sum = 0;
    for (const double w : window) sum_of_squares += w * w, sum += std::abs(w);
    const double divisor = !scaling_ ? 1 : *scaling_ == "density" ? std::sqrt(sum_of_squares) : sum;
    for (double& w : window) w /= divisor;
    return window;
  }

  std::string part_name_ = "real";
  Value window_ = "hann";
  std::optional<std::string> scaling_ = "density";
  bool periodic_ = false;
};

}  // namespace

CRESCENT_REGISTER(stft) { registry.add<Stft>("STFT", {"stft", "STFTInitializer"}); }

}  // namespace crescent
