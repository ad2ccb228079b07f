// Pooling to a given size: of n input elements, output element i of m pools those from floor(i n /
// m) to ceil((i + 1) n / m), exclusive.
#include <algorithm>

#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

struct Window {
  int64_t first, last;  ///< elements [first, last)
};

std::vector<Window> windows(int64_t from, int64_t to) {
  std::vector<Window> pooling_windows;
  for (int64_t i = 0; i < to; ++i)
    pooling_windows.push_back({i * from / to, ((i + 1) * from + to - 1) / to});
  return pooling_windows;
}

/// The indices of the elements of all windows. The indices of each window are padded to the width
/// of the widest window by repeating the last one.
Tensor positions(const std::vector<Window>& pooling_windows, int64_t width) {
  std::vector<int32_t> indices;
  for (const Window& window : pooling_windows)
    for (int64_t i = 0; i < width; ++i)
      indices.push_back(int32_t(std::min(window.first + i, window.last - 1)));
  return Tensor::from(indices, Shape{int64_t(indices.size())});
}

/// The weights 1 / width for the elements of a window, 0 for padding.
Tensor mean_weights(const std::vector<Window>& pooling_windows, int64_t width, DType dtype) {
  std::vector<float> weights;
  for (const Window& window : pooling_windows)
    for (int64_t i = 0; i < width; ++i) {
      const int64_t window_size = window.last - window.first;
      weights.push_back(i < window_size ? 1 / float(window_size) : 0);
    }
  return ops::cast(Tensor::from(weights, Shape{int64_t(weights.size())}), dtype);
}

/// Pools one axis to a size.
template <bool Max>
Tensor pool_axis(const Tensor& x, int axis, int64_t to) {
  const int64_t from = x.dim(axis);
  Shape result = x.shape();
  result.set(axis, to);
  // while shapes are inferred only the shape of the result matters
  if (from < 0) return ops::broadcast_to(ops::max(x, {axis}, true), result);
  if (from == 0) fail("axis ", axis, " of shape ", x.shape(), " has no elements to pool");
  const std::vector<Window> pooling_windows = windows(from, to);
  int64_t width = 0;
  for (const Window& window : pooling_windows) width = std::max(width, window.last - window.first);
  Tensor elements =
      from == to * width ? x : ops::gather(x, positions(pooling_windows, width), axis);
  if (!Max && from != to * width) {
    const Shape trailing_ones(std::vector<int64_t>(size_t(x.rank() - axis - 1), 1));
    elements = elements * ops::reshape(mean_weights(pooling_windows, width, x.dtype()),
                                       Shape{to * width}.concat(trailing_ones));
  }
  const Shape split_shape =
      x.shape().slice(0, axis).concat({to, width}).concat(x.shape().slice(axis + 1, x.rank()));
  const Tensor windows = ops::reshape(elements, split_shape);
  if (Max) return ops::max(windows, {axis + 1});
  return from == to * width ? ops::mean(windows, {axis + 1}) : ops::sum(windows, {axis + 1});
}

template <int Axes, bool Max>
class AdaptivePooling final : public SpatialLayer<Axes> {
 public:
  static void describe(Schema<AdaptivePooling>& s) {
    s.doc(Max ? "Max pooling over windows whose number is output_size."
              : "Average pooling over windows whose number is output_size.")
        .field("output_size", &AdaptivePooling::output_size_,
               "Number of windows along each spatial axis.")
        .required()
        .min(1)
        .max(1 << 24);
    AdaptivePooling::describe_data_format(s);
  }
  void configured() override {
    SpatialLayer<Axes>::configured();
    output_size_ = per_axis(output_size_, Axes, "output_size");
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = x;
    for (int i = 0; i < Axes; ++i)
      y = pool_axis<Max>(y, this->first_spatial_axis() + i, output_size_[size_t(i)]);
    return y;
  }

 private:
  std::vector<int64_t> output_size_;
};

template <int Axes>
void add_adaptive(Registry& registry) {
  const std::string axes_text = std::to_string(Axes) + "D";
  registry.add<AdaptivePooling<Axes, true>>("AdaptiveMaxPooling" + axes_text);
  registry.add<AdaptivePooling<Axes, false>>("AdaptiveAveragePooling" + axes_text);
}

}  // namespace

CRESCENT_REGISTER(adaptive_pooling) {
  add_adaptive<1>(registry);
  add_adaptive<2>(registry);
  add_adaptive<3>(registry);
}

}  // namespace crescent
