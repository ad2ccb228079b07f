// The base of layers over 1 to 3 spatial axes: options with a value per axis, and data formats.
#pragma once
#include "mask_carrier.h"

namespace crescent {

/// The values of an option for each spatial axis; a single value applies to all axes.
inline std::vector<int64_t> per_axis(const std::vector<int64_t>& values, int axes,
                                     const char* option) {
  if (values.size() == 1) return std::vector<int64_t>(axes, values[0]);
  if (int(values.size()) != axes)
    fail(option, ": expected 1 or ", axes, " integers, got ", Value(values));
  return values;
}

inline ops::Padding padding_named(const std::string& name) {
  return name == "same"     ? ops::Padding::same
         : name == "causal" ? ops::Padding::causal
                            : ops::Padding::valid;
}

/// Convert (batch, channels, spatial...) to (batch, spatial..., channels) and back.
inline Tensor channels_to_last(const Tensor& x) {
  std::vector<int> axes{0};
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  axes.push_back(1);
  return ops::transpose(x, axes);
}
inline Tensor channels_to_first(const Tensor& x) {
  std::vector<int> axes{0, x.rank() - 1};
  for (int i = 1; i < x.rank() - 1; ++i) axes.push_back(i);
  return ops::transpose(x, axes);
}

/// The base of layers whose input is (batch, `Axes` spatial axes, channels), or has channels first.
template <int Axes>
class SpatialLayer : public MaskCarrier {
 public:
  void configured() override {
    MaskCarrier::configured();
    set_input_specs({InputSpec::with_ndim(Axes + 2)});
  }

 protected:
  template <class T>
  static void describe_data_format(Schema<T>& s) {
    s.field("data_format", &SpatialLayer::data_format_,
            "Position of the channels: \"channels_last\" or \"channels_first\".")
        .choices({"channels_last", "channels_first"});
  }
  bool channels_first() const { return data_format_ && *data_format_ == "channels_first"; }
  int channel_axis() const { return channels_first() ? 1 : Axes + 1; }
  int first_spatial_axis() const { return channels_first() ? 2 : 1; }
  /// Applies f to x, and converts x to channels last before and the result back after, if
  /// necessary.
  template <class F>
  Tensor with_channels_last(const Tensor& x, F&& f) const {
    return channels_first() ? channels_to_first(f(channels_to_last(x))) : f(x);
  }

  std::optional<std::string> data_format_ = "channels_last";
};

}  // namespace crescent
