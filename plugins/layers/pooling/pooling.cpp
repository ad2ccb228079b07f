// Pooling over windows of 1, 2 or 3 spatial axes.
#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes, bool Max>
class Pooling final : public SpatialLayer<Axes> {
 public:
  Pooling() { this->carry_mask_ = Axes == 1; }
  static void describe(Schema<Pooling>& s) {
    s.doc(Max ? "The maximum of each window." : "The mean of each window; padding does not count.")
        .field("pool_size", &Pooling::pool_size_, "Size of the window.")
        .min(1)
        .field("strides", &Pooling::strides_, "Distance between windows; null: pool_size.")
        .field(
            "padding", &Pooling::padding_,
            "\"valid\": no padding; \"same\": padding so that there are ceil(n / stride) windows.")
        .choices({"valid", "same"});
    Pooling::describe_data_format(s);
    if (Axes == 1) Pooling::describe_carry_mask(s);
  }
  void configured() override {
    SpatialLayer<Axes>::configured();
    pool_size_ = per_axis(pool_size_, Axes, "pool_size");
    strides_ = strides_ ? per_axis(*strides_, Axes, "strides") : pool_size_;
    for (int64_t stride : *strides_)
      if (stride < 1) fail("strides must be at least 1, got ", Value(*strides_));
  }
  Tensor call(const Tensor& x, const Call&) override {
    constexpr auto pool = Max ? ops::max_pool : ops::average_pool;
    return pool(
        x, pool_size_, *strides_, padding_named(padding_),
        this->channels_first() ? ops::DataFormat::channels_first : ops::DataFormat::channels_last);
  }

 protected:
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    return mask_of_windows(mask, pool_size_[0], (*strides_)[0], 1, padding_);
  }

 private:
  std::vector<int64_t> pool_size_ = std::vector<int64_t>(Axes, 2);
  std::optional<std::vector<int64_t>> strides_;
  std::string padding_ = "valid";
};

template <int Axes>
void add_pooling(Registry& registry) {
  const std::string axes_text = std::to_string(Axes) + "D";
  registry.add<Pooling<Axes, true>>("MaxPooling" + axes_text, {"MaxPool" + axes_text});
  registry.add<Pooling<Axes, false>>("AveragePooling" + axes_text, {"AvgPool" + axes_text});
}

}  // namespace

CRESCENT_REGISTER(pooling) {
  add_pooling<1>(registry);
  add_pooling<2>(registry);
  add_pooling<3>(registry);
}

}  // namespace crescent
