// Pooling to a given size: of n input elements, output element i of m pools those from floor(i n /
// m) to ceil((i + 1) n / m), exclusive.
#include <algorithm>

#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

struct Window {
  int64_t begin, end;  ///< elements [begin, end)
};

std::vector<Window> windows(int64_t input_size, int64_t output_size) {
  std::vector<Window> pooling_windows;
  for (int64_t i = 0; i < output_size; ++i)
    pooling_windows.push_back(
        {i * input_size / output_size, ((i + 1) * input_size + output_size - 1) / output_size});
  return pooling_windows;
}

/// The indices of the elements of all windows. The indices of each window are padded to the width
/// of the widest window by repeating the last one.
Tensor positions(const std::vector<Window>& pooling_windows, int64_t width) {
  std::vector<int32_t> indices;
  for (const Window& window : pooling_windows)
    for (int64_t i = 0; i < width; ++i)
      indices.push_back(int32_t(std::min(window.begin + i, window.end - 1)));
  return Tensor::from(indices, Shape{int64_t(indices.size())});
}

/// The weights 1 / width for the elements of a window, 0 for padding.
Tensor mean_weights(const std::vector<Window>& pooling_windows, int64_t width, DType dtype) {
  std::vector<float> weights;
  for (const Window& window : pooling_windows)
    for (int64_t i = 0; i < width; ++i) {
      const int64_t window_size = window.end - window.begin;
      weights.push_back(i < window_size ? 1 / float(window_size) : 0);
    }
  return ops::cast(Tensor::from(weights, Shape{int64_t(weights.size())}), dtype);
}

/// Pools one axis to a size.
template <bool Max>
Tensor pool_axis(const Tensor& x, int axis, int64_t output_size) {
  const int64_t input_size = x.dim(axis);
  Shape output_shape = x.shape();
  output_shape.set(axis, output_size);
  // while shapes are inferred only the shape of the result matters
  if (input_size < 0) return ops::broadcast_to(ops::max(x, {axis}, true), output_shape);
  if (input_size == 0) fail("axis ", axis, " of shape ", x.shape(), " has no elements to pool");
  const std::vector<Window> pooling_windows = windows(input_size, output_size);
  int64_t width = 0;
  for (const Window& window : pooling_windows) width = std::max(width, window.end - window.begin);
  Tensor elements = input_size == output_size * width
                        ? x
                        : ops::gather(x, positions(pooling_windows, width), axis);
  if (!Max && input_size != output_size * width) {
    const Shape trailing_ones(std::vector<int64_t>(size_t(x.rank() - axis - 1), 1));
    elements = elements * ops::reshape(mean_weights(pooling_windows, width, x.dtype()),
                                       Shape{output_size * width}.concat(trailing_ones));
  }
  const Shape split_shape = x.shape()
                                .slice(0, axis)
                                .concat({output_size, width})
                                .concat(x.shape().slice(axis + 1, x.rank()));
  const Tensor windows = ops::reshape(elements, split_shape);
  if (Max) return ops::max(windows, {axis + 1});
  return input_size == output_size * width ? ops::mean(windows, {axis + 1})
                                           : ops::sum(windows, {axis + 1});
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
