// Convolutions and their gradients. Kernels may compute a 3x3 convolution by Winograd transforms of
// tiles, so the rounding error of a result depends on all elements of its tile.
#include <algorithm>
#include <cmath>

#include "validation/rules/windows.h"

namespace crescent::validation {
namespace {

constexpr int64_t kMaxTileDistance = 5;  ///< largest distance between elements of a tile
/// The bound of the rounding errors of Winograd transforms, as a multiple of the unit roundoff.
constexpr double kWinogradError = 300;

/// The shapes of a convolution: images, kernel, results.
struct Geometry {
  Shape x, kernel, y;
  ConvSpec spec;
  std::vector<WindowTap> taps;

  Geometry(const Shape& images, const Shape& weights, const Shape& results,
           const ConvSpec& conv_spec)
      : x(images),
        kernel(weights),
        y(results),
        spec(conv_spec),
        taps(window_taps(spatial(x), kernel.slice(0, kernel.rank() - 2), spatial(y), spec)) {}

  bool may_be_transformed() const {
    const auto all_equal = [](const std::vector<int64_t>& list, int64_t n) {
      return std::all_of(list.begin(), list.end(), [n](int64_t i) { return i == n; });
    };
    return x.rank() == 4 && kernel[0] == 3 && kernel[1] == 3 && spec.groups == 1 &&
           all_equal(spec.strides, 1) && all_equal(spec.dilation, 1);
  }

  /// Calls f(element of x, of the kernel, of y) for each product; the innermost loop runs over y's
  /// channels.
  template <class F>
  void for_each_product(F&& f) const {
    const int64_t in_channels = x[-1], out_channels = y[-1], pixels = spatial(x).size(),
                  position_count = spatial(y).size(), group_in_channels = in_channels / spec.groups,
                  group_out_channels = out_channels / spec.groups;
    for (int64_t n = 0; n < x[0]; ++n)
      for (const WindowTap& c : taps)
        for (int64_t i = 0; i < in_channels; ++i) {
          const int64_t group = i / group_in_channels,
                        first_output_channel = group * group_out_channels,
                        kernel_row = c.tap * group_in_channels + i % group_in_channels;
          for (int64_t o = first_output_channel; o < first_output_channel + group_out_channels; ++o)
            f((n * pixels + c.pixel) * in_channels + i, kernel_row * out_channels + o,
              (n * position_count + c.position) * out_channels + o);
        }
  }
};

/// The absolute values of the elements; infinity for undecided elements.
std::vector<double> magnitudes_of(const Bounded& x) {
  std::vector<double> magnitudes(x.real);
  for (size_t i = 0; i < magnitudes.size(); ++i)
    magnitudes[i] = is_undecided(x.error(i)) ? kUndecided : std::abs(magnitudes[i]);
  return magnitudes;
}

/// For each element, the maximum of the elements at most `max_distance` away along an axis.
std::vector<double> neighbourhood_maxima(const std::vector<double>& x, const Shape& shape, int axis,
                                         int64_t max_distance) {
  const AxisExtents a(shape, axis);
  std::vector<double> y(x.size(), 0);
  for (int64_t before = 0; before < a.before; ++before)
    for (int64_t k = 0; k < a.along; ++k)
      for (int64_t j = std::max<int64_t>(k - max_distance, 0);
           j < std::min(k + max_distance + 1, a.along); ++j)
        for (int64_t b = 0; b < a.after; ++b) {
          double& target = y[(before * a.along + k) * a.after + b];
          target = std::max(target, x[(before * a.along + j) * a.after + b]);
        }
  return y;
}

/// For each element, the maximum of the elements that can be in the same Winograd tile.
std::vector<double> tile_maxima(std::vector<double> magnitudes, const Shape& shape,
                                int first_axis) {
  for (int axis = first_axis; axis < first_axis + 2; ++axis)
    magnitudes = neighbourhood_maxima(magnitudes, shape, axis, kMaxTileDistance);
  return magnitudes;
}

/// Computes a convolution or one of its gradients from a and b. `term_of` maps the indices of an
/// element of x, of the kernel and of y to those of a, of b and of the result.
template <class TermOf>
std::vector<Bounded> convolved(const RuleInput& r, const Geometry& g, int first_spatial_axis_a,
                               int first_spatial_axis_b, double term_count, TermOf&& term_of) {
  const Bounded &a = r.input(0), &b = r.input(1);
  if (!a.is_real()) return {Bounded::undecided(r.outputs[0])};
  Bounded y = Bounded::zeros(r.outputs[0]);
  const bool is_transformed = g.may_be_transformed(),
             has_errors = !a.bound.empty() || !b.bound.empty();
  std::vector<double> magnitudes_a = magnitudes_of(a), magnitudes_b = magnitudes_of(b),
                      magnitude_sums(y.size(), 0);
  if (is_transformed) {
    magnitudes_a = tile_maxima(std::move(magnitudes_a), a.spec.shape, first_spatial_axis_a);
    magnitudes_b = tile_maxima(std::move(magnitudes_b), b.spec.shape, first_spatial_axis_b);
  }
  if (has_errors) y.bound.assign(y.size(), 0);
  g.for_each_product([&](size_t x, size_t w, size_t to) {
    const auto [i, j, k] = term_of(x, w, to);
    y.real[k] += a.real[i] * b.real[j], magnitude_sums[k] += magnitudes_a[i] * magnitudes_b[j];
    if (has_errors)
      y.bound[k] +=
          a.error(i) * std::abs(b.real[j]) + (std::abs(a.real[i]) + a.error(i)) * b.error(j);
  });
  const double relative_sum_error = sum_roundoff(y.spec.dtype, r.rounding) *
                                    (term_count + 1 + (is_transformed ? kWinogradError : 0));
  for (size_t i = 0; i < y.size(); ++i)
    if (magnitude_sums[i] != 0)
      y.widen(i, relative_sum_error * magnitude_sums[i] + r.roundoff() * std::abs(y.real[i]) +
                     r.tiny_sum(term_count));
  return {std::move(y)};
}

struct ProductTerm {
  size_t a, b, result;
};

double tap_count(const Geometry& g) {
  return static_cast<double>(g.kernel.slice(0, g.kernel.rank() - 2).size());
}

std::vector<Bounded> conv_rule(const RuleInput& r) {
  const Geometry g(r.input(0).spec.shape, r.input(1).spec.shape, r.outputs[0].shape,
                   r.as<Conv>().spec);
  const double term_count = tap_count(g) * static_cast<double>(g.kernel[-2]);
  return convolved(r, g, 1, 0, term_count, [](size_t x, size_t w, size_t y) {
    return ProductTerm{x, w, y};
  });
}

std::vector<Bounded> data_rule(const RuleInput& r) {
  const Geometry g(r.outputs[0].shape, r.input(1).spec.shape, r.input(0).spec.shape,
                   r.as<ConvBackwardData>().spec);
  const double term_count = tap_count(g) * static_cast<double>(g.kernel[-1]);
  return convolved(r, g, 1, 0, term_count, [](size_t x, size_t w, size_t y) {
    return ProductTerm{y, w, x};
  });
}

std::vector<Bounded> kernel_rule(const RuleInput& r) {
  const Geometry g(r.input(0).spec.shape, r.outputs[0].shape, r.input(1).spec.shape,
                   r.as<ConvBackwardKernel>().spec);
  const double term_count = static_cast<double>(g.y[0] * spatial(g.y).size());
  return convolved(r, g, 1, 1, term_count, [](size_t x, size_t w, size_t y) {
    return ProductTerm{x, y, w};
  });
}

constexpr OpRule kConvolutionRules[] = {
    {Conv::kName, conv_rule},
    {ConvBackwardData::kName, data_rule},
    {ConvBackwardKernel::kName, kernel_rule},
};

}  // namespace

std::span<const OpRule> convolution_rules() { return kConvolutionRules; }

}  // namespace crescent::validation
