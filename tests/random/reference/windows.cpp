// Reference implementations of convolutions and pooling.
#include <cmath>

#include "crescent/program/array_op_types.h"
#include "crescent/program/op_types.h"
#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

/// Calls f(element of x, element of the kernel, element of y) for every product of a convolution.
template <class F>
void for_each_tap(const ConvSpec& spec, const Shape& x, const Shape& kernel, const Shape& y, F f) {
  const std::vector<int64_t> x_strides = strides_of(x), kernel_strides = strides_of(kernel);
  const int spatial_axis_count = x.rank() - 2;
  const int64_t input_channels_of_group = kernel[-2],
                output_channels_of_group = y[-1] / spec.groups;
  const Shape kernel_shape = kernel.slice(0, spatial_axis_count);
  IndexIterator at(y);
  for (int64_t out = 0; out < y.size(); ++out, at.next()) {
    const int64_t channel = at.at().back(),
                  group = channel / std::max<int64_t>(output_channels_of_group, 1);
    IndexIterator tap(kernel_shape);
    for (int64_t t = 0; t < kernel_shape.size(); ++t, tap.next()) {
      int64_t x_offset = at.at()[0] * x_strides[0], kernel_offset = channel;
      bool is_inside_x = true;
      for (int i = 0; i < spatial_axis_count; ++i) {
        const size_t s = static_cast<size_t>(i);
        const int64_t position =
            at.at()[s + 1] * spec.strides[s] + tap.at()[s] * spec.dilation[s] - spec.pad_before[s];
        is_inside_x = is_inside_x && position >= 0 && position < x[i + 1];
        x_offset += position * x_strides[s + 1];
        kernel_offset += tap.at()[s] * kernel_strides[s];
      }
      for (int64_t c = 0; is_inside_x && c < input_channels_of_group; ++c)
        f(static_cast<size_t>(x_offset + group * input_channels_of_group + c),
          static_cast<size_t>(kernel_offset +
                              c * kernel_strides[static_cast<size_t>(spatial_axis_count)]),
          static_cast<size_t>(out));
    }
  }
}

/// The sums of a convolution and their errors. The errors of fast algorithms (Winograd) are larger,
/// because these transform their operands.
class Sums {
 public:
  explicit Sums(Array& out) : out_(out), magnitudes_(out.values.size()) {}
  void add(size_t at, double x) {
    out_.values[at] += x, magnitudes_[at] += std::abs(x), ++term_count_;
  }
  void round(Rounding& rounding) {
    constexpr double kMinRoundings = 16;
    const auto results = static_cast<int64_t>(std::max<size_t>(magnitudes_.size(), 1));
    const double roundings = std::max(kMinRoundings, roundings_of_sum(term_count_ / results));
    double largest_magnitude = 0;
    for (double m : magnitudes_) largest_magnitude = std::max(largest_magnitude, m);
    // The error of elements that are transformed together is that of the largest element.
    for (size_t i = 0; i < magnitudes_.size(); ++i)
      out_.values[i] = rounding(out_.values[i], out_.spec.dtype, 1, roundings * largest_magnitude);
  }

 private:
  Array& out_;
  std::vector<double> magnitudes_;
  int64_t term_count_ = 0;  ///< number of terms of all results together
};

void interpret_conv(const Conv& op, const Call& call) {
  const Array &x = *call.in[0], &kernel = *call.in[1];
  Sums sums(call.out[0]);
  for_each_tap(op.spec, x.spec.shape, kernel.spec.shape, call.out[0].spec.shape,
               [&](size_t i, size_t k, size_t o) { sums.add(o, x.values[i] * kernel.values[k]); });
  sums.round(call.rounding);
}

void interpret_conv_data(const ConvBackwardData& op, const Call& call) {
  const Array &dy = *call.in[0], &kernel = *call.in[1];
  Sums sums(call.out[0]);
  for_each_tap(op.spec, call.out[0].spec.shape, kernel.spec.shape, dy.spec.shape,
               [&](size_t i, size_t k, size_t o) { sums.add(i, dy.values[o] * kernel.values[k]); });
  sums.round(call.rounding);
}

void interpret_conv_kernel(const ConvBackwardKernel& op, const Call& call) {
  const Array &x = *call.in[0], &dy = *call.in[1];
  Sums sums(call.out[0]);
  for_each_tap(op.spec, x.spec.shape, op.kernel, dy.spec.shape,
               [&](size_t i, size_t k, size_t o) { sums.add(k, x.values[i] * dy.values[o]); });
  sums.round(call.rounding);
}

/// Calls f(element of x) for each element under the window of an element of y.
template <class F>
void for_each_in_window(const ConvSpec& spec, const std::vector<int64_t>& window, const Shape& x,
                        const std::vector<int64_t>& at, F f) {
  const std::vector<int64_t> x_strides = strides_of(x);
  IndexIterator tap{Shape(window)};
  for (int64_t t = 0; t < Shape(window).size(); ++t, tap.next()) {
    int64_t element_index = at[0] * x_strides[0] + at.back();
    bool is_inside_x = true;
    for (size_t s = 0; s < window.size(); ++s) {
      const int64_t coordinate = at[s + 1] * spec.strides[s] + tap.at()[s] - spec.pad_before[s];
      is_inside_x = is_inside_x && coordinate >= 0 && coordinate < x[static_cast<int>(s) + 1];
      element_index += coordinate * x_strides[s + 1];
    }
    if (is_inside_x) f(static_cast<size_t>(element_index));
  }
}

void interpret_pool(const Pool& op, const Call& call) {
  const Array& x = *call.in[0];
  Array& out = call.out[0];
  IndexIterator position(out.spec.shape);
  for (double& y : out.values) {
    double largest_value = -INFINITY, sum = 0, magnitude = 0, count = 0;
    for_each_in_window(op.spec, op.window, x.spec.shape, position.at(), [&](size_t i) {
      if (std::isnan(x.values[i])) throw Unreliable("NaN is compared");
      largest_value = std::max(largest_value, x.values[i]);
      sum += x.values[i], magnitude += std::abs(x.values[i]), ++count;
    });
    y = op.max ? largest_value : call.rounding(sum / count, out.spec.dtype, 1, magnitude / count);
    position.next();
  }
}

void interpret_pool_backward(const PoolBackward& op, const Call& call) {
  const Array& dy = *call.in[op.max ? 1 : 0];
  Array& dx = call.out[0];
  std::vector<double> magnitudes(dx.values.size());
  IndexIterator position(dy.spec.shape);
  for (double g : dy.values) {
    size_t best_element = 0, count = 0;
    for_each_in_window(op.spec, op.window, dx.spec.shape, position.at(), [&](size_t i) {
      if (op.max && (count == 0 || call.in[0]->values[i] > call.in[0]->values[best_element]))
        best_element = i;
      ++count;
    });
    const double share_of_gradient = g / static_cast<double>(count);
    if (op.max)
      dx.values[best_element] += g, magnitudes[best_element] += std::abs(g);
    else
      for_each_in_window(op.spec, op.window, dx.spec.shape, position.at(), [&](size_t i) {
        dx.values[i] += share_of_gradient, magnitudes[i] += std::abs(share_of_gradient);
      });
    position.next();
  }
  // Sums of 16-bit floats are rounded after each addition; the additions are few, because few
  // windows overlap.
  const double half_unit_ratio = unit_of(dx.spec.dtype) / unit_of(DType::float32) / 8;
  const double factor = size_of(dx.spec.dtype) == 2 ? half_unit_ratio : 1;
  for (size_t i = 0; i < magnitudes.size(); ++i)
    dx.values[i] = call.rounding(dx.values[i], dx.spec.dtype, 1, 2 * factor * magnitudes[i]);
}

/// Fails for infinite inputs. Whether an infinity is multiplied by a weight of 0 depends on the
/// implementation: a kernel may multiply the padding of a window, or the zeros beside a band, or
/// skip them.
void refuse_infinite(const Call& call) {
  for (const Array* x : call.in)
    for (double v : x->values)
      if (!std::isfinite(v)) throw Unreliable("a sum with weights that is not finite");
}

}  // namespace

bool interpret_windows(const Call& call) {
  const std::string_view name = call.op.name();
  if (name == Conv::kName || name == ConvBackwardData::kName || name == ConvBackwardKernel::kName ||
      name == BandedMatmul::kName)
    refuse_infinite(call);
  const auto interpret_as = [&]<class T>(void (*f)(const T&, const Call&)) {
    f(static_cast<const T&>(call.op), call);
  };
  if (name == Conv::kName)
    interpret_as(interpret_conv);
  else if (name == ConvBackwardData::kName)
    interpret_as(interpret_conv_data);
  else if (name == ConvBackwardKernel::kName)
    interpret_as(interpret_conv_kernel);
  else if (name == Pool::kName)
    interpret_as(interpret_pool);
  else if (name == PoolBackward::kName)
    interpret_as(interpret_pool_backward);
  else
    return false;
  return true;
}

}  // namespace crescent::random_programs
