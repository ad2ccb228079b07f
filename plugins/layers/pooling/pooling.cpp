// Pooling over 1, 2 or 3 spatial axes, and over all of them.
#include "crescent/plugin.h"

namespace crescent {
namespace {

/// Axes of a channels_first tensor in channels_last order, and back.
std::vector<int> to_last(int rank) {
  std::vector<int> axes{0};
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  axes.push_back(1);
  return axes;
}
std::vector<int> to_first(int rank) {
  std::vector<int> axes{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) axes.push_back(i);
  return axes;
}

template <int Axes, bool Max>
class Pooling final : public UnaryLayer {
 public:
  static void describe(Schema<Pooling>& s) {
    s.doc(Max ? "The largest value of each window."
              : "The mean of each window (of its elements inside the input).")
        .field("pool_size", &Pooling::pool_size_, "Extent of the window.")
        .min(1)
        .field("strides", &Pooling::strides_, "Steps of the window, null: pool_size.")
        .field("padding", &Pooling::padding_,
               "valid: windows inside; same: ceil(n / stride) windows.")
        .choices({"valid", "same"})
        .field("data_format", &Pooling::data_format_, "Where the channels are.")
        .choices({"channels_last", "channels_first"});
  }
  void configured() override {
    UnaryLayer::configured();
    pool_size_ = per_axis(pool_size_, "pool_size");
    strides_ = strides_ ? per_axis(*strides_, "strides") : pool_size_;
    for (int64_t stride : *strides_)
      if (stride < 1) fail("strides must be at least 1, got ", Value(*strides_));
    set_input_specs({InputSpec::with_ndim(Axes + 2)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const bool first = data_format_ && *data_format_ == "channels_first";
    const Tensor input = first ? ops::transpose(x, to_last(x.rank())) : x;
    const ops::Padding padding = padding_ == "same" ? ops::Padding::same : ops::Padding::valid;
    const Tensor y = Max ? ops::max_pool(input, pool_size_, *strides_, padding)
                         : ops::average_pool(input, pool_size_, *strides_, padding);
    return first ? ops::transpose(y, to_first(y.rank())) : y;
  }

 private:
  static std::vector<int64_t> per_axis(const std::vector<int64_t>& values, const char* option) {
    if (values.size() == 1) return std::vector<int64_t>(Axes, values[0]);
    if (values.size() != Axes)
      fail(option, ": expected 1 or ", Axes, " integers, got ", Value(values));
    return values;
  }
  std::vector<int64_t> pool_size_ = std::vector<int64_t>(Axes, 2);
  std::optional<std::vector<int64_t>> strides_;
  std::string padding_ = "valid";
  std::optional<std::string> data_format_ = "channels_last";
};

template <int Axes, bool Max>
class GlobalPooling final : public UnaryLayer {
 public:
  static void describe(Schema<GlobalPooling>& s) {
    s.doc(Max ? "The largest value of each channel." : "The mean of each channel.")
        .field("data_format", &GlobalPooling::data_format_, "Where the channels are.")
        .choices({"channels_last", "channels_first"})
        .field("keepdims", &GlobalPooling::keepdims_, "Keep the spatial axes with size 1.");
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(kMasked);
    set_input_specs({InputSpec::with_ndim(Axes + 2)});
  }
  Tensor call(const Tensor& x, const Call& call) override {
    const int first = data_format_ && *data_format_ == "channels_first" ? 2 : 1;
    ops::Axes axes;
    for (int i = 0; i < Axes; ++i) axes.push_back(first + i);
    if (Max) return ops::max(x, axes, keepdims_);
    if (kMasked && call.mask()) return masked_mean(x, call.mask(), first);
    return ops::mean(x, axes, keepdims_);
  }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors&) override {
    return {Tensor()};
  }

 private:
  static constexpr bool kMasked = Axes == 1 && !Max;
  /// Mean over the steps that count.
  Tensor masked_mean(const Tensor& x, const Tensor& mask, int axis) const {
    const Tensor weights = ops::expand_dims(ops::cast(mask, x.dtype()), axis == 1 ? 2 : 1);
    return ops::sum(x * weights, {axis}, keepdims_) / ops::sum(weights, {axis}, keepdims_);
  }
  std::optional<std::string> data_format_ = "channels_last";
  bool keepdims_ = false;
};

template <int Axes>
void add_pooling(Registry& registry) {
  const std::string axes = std::to_string(Axes) + "D";
  registry.add<Pooling<Axes, true>>("MaxPooling" + axes, {"MaxPool" + axes});
  registry.add<Pooling<Axes, false>>("AveragePooling" + axes, {"AvgPool" + axes});
  registry.add<GlobalPooling<Axes, true>>("GlobalMaxPooling" + axes, {"GlobalMaxPool" + axes});
  registry.add<GlobalPooling<Axes, false>>("GlobalAveragePooling" + axes, {"GlobalAvgPool" + axes});
}

}  // namespace

CRESCENT_PLUGIN("pooling", CRESCENT_VERSION) {
  add_pooling<1>(registry);
  add_pooling<2>(registry);
  add_pooling<3>(registry);
}

}  // namespace crescent
