// Pooling and its gradients. Because of rounding errors, several elements of a window may be the
// maximum. The error bound of the result then includes the whole gradient at each of these
// elements.
#include <algorithm>
#include <cmath>

#include "validation/rules/windows.h"

namespace crescent::validation {
namespace {

/// The pooling windows of images whose channels are last.
struct Windows {
  Shape x, y;
  std::vector<WindowTap> taps;

  Windows(const Shape& images, const Shape& results, const std::vector<int64_t>& window,
          const ConvSpec& spec)
      : x(images), y(results), taps(window_taps(spatial(x), Shape(window), spatial(y), spec)) {}

  /// Calls f(result, elements of x in its window, in order) for each result.
  template <class F>
  void for_each_window(F&& f) const {
    const int64_t channels = x[-1], pixels = spatial(x).size(), position_count = spatial(y).size();
    std::vector<size_t> window_indices;
    for (int64_t n = 0; n < x[0]; ++n)
      for (size_t i = 0; i < taps.size();) {
        size_t end = i;
        while (end < taps.size() && taps[end].position == taps[i].position) ++end;
        for (int64_t c = 0; c < channels; ++c) {
          window_indices.clear();
          for (size_t k = i; k < end; ++k)
            window_indices.push_back(
                static_cast<size_t>((n * pixels + taps[k].pixel) * channels + c));
          f((n * position_count + taps[i].position) * channels + c, window_indices);
        }
        i = end;
      }
  }
};

/// The position of the first maximum in the window.
size_t argmax(const Bounded& x, const std::vector<size_t>& window_elements) {
  size_t best_index = 0;
  for (size_t k = 1; k < window_elements.size(); ++k)
    if (x.real[window_elements[k]] > x.real[window_elements[best_index]]) best_index = k;
  return best_index;
}

bool may_be_maximum(const Bounded& x, size_t index, size_t best_index) {
  const double e = x.error(index) + x.error(best_index);
  if (is_undecided(e)) return true;
  return e > 0 && x.real[best_index] - x.real[index] <= e && x.real[best_index] != x.real[index];
}

std::vector<Bounded> pooled(const RuleInput& r, const Windows& windows, bool max) {
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  Bounded argmax_indices = r.outputs.size() > 1 ? Bounded::zeros(r.outputs[1]) : Bounded();
  const double relative_sum_error = sum_roundoff(y.spec.dtype, r.rounding);
  windows.for_each_window([&](size_t to, const std::vector<size_t>& window_elements) {
    if (!max) {
      double sum = 0, magnitude_sum = 0, error = 0;
      for (size_t from : window_elements)
        sum += x.real[from], magnitude_sum += std::abs(x.real[from]), error += x.error(from);
      const double count = static_cast<double>(window_elements.size());
      y.real[to] = sum / count;
      y.widen(to, error / count + relative_sum_error * (count + 2) * magnitude_sum / count +
                      r.roundoff() * std::abs(y.real[to]) + (magnitude_sum > 0 ? r.tiny() : 0));
      return;
    }
    const size_t max_index = argmax(x, window_elements);
    y.real[to] = x.real[window_elements[max_index]];
    double error = x.error(window_elements[max_index]);
    bool is_certain = true;
    for (size_t from : window_elements)
      if (may_be_maximum(x, from, window_elements[max_index]))
        error = std::max(error, x.error(from)), is_certain = false;
    y.widen(to, error);
    if (r.outputs.size() == 1) return;
    argmax_indices.whole[to] = static_cast<int64_t>(max_index);
    if (!is_certain) argmax_indices.widen(to, kUndecided);
  });
  std::vector<Bounded> results;
  results.push_back(std::move(y));
  if (r.outputs.size() > 1) results.push_back(std::move(argmax_indices));
  return results;
}

std::vector<Bounded> pool_rule(const RuleInput& r) {
  const auto& op = r.as<Pool>();
  return pooled(r, {r.input(0).spec.shape, r.outputs[0].shape, op.window, op.spec}, op.max);
}

std::vector<Bounded> argmax_rule(const RuleInput& r) {
  const auto& op = r.as<PoolArgmax>();
  return pooled(r, {r.input(0).spec.shape, r.outputs[0].shape, op.window, op.spec}, true);
}

/// Sums of gradients, with the sums of the magnitudes and the numbers of the terms, which determine
/// the bounds of the rounding errors.
struct Sums {
  explicit Sums(const TensorSpec& spec)
      : y(Bounded::zeros(spec)), magnitude_sums(y.size(), 0), term_counts(y.size(), 0) {}
  void add(size_t to, double term, double error) {
    y.real[to] += term, magnitude_sums[to] += std::abs(term), ++term_counts[to];
    y.widen(to, error);
  }
  std::vector<Bounded> finish(const RuleInput& r) {
    for (size_t i = 0; i < y.size(); ++i)
      if (magnitude_sums[i] != 0)
        y.widen(i, r.roundoff() * (term_counts[i] + 1) * magnitude_sums[i] +
                       r.tiny_sum(term_counts[i]));
    return {std::move(y)};
  }

  Bounded y;
  std::vector<double> magnitude_sums, term_counts;
};

std::vector<Bounded> backward_rule(const RuleInput& r) {
  const auto& op = r.as<PoolBackward>();
  const Bounded &x = r.input(0), &dy = r.input(op.max ? 1 : 0);
  Sums sums(r.outputs[0]);
  const Windows windows(r.outputs[0].shape, dy.spec.shape, op.window, op.spec);
  windows.for_each_window([&](size_t from, const std::vector<size_t>& window_elements) {
    const double g = dy.real[from], e = dy.error(from);
    if (!op.max) {
      const double count = static_cast<double>(window_elements.size());
      for (size_t to : window_elements) sums.add(to, g / count, e / count);
      return;
    }
    const size_t max_index = window_elements[argmax(x, window_elements)];
    bool is_certain = true;
    for (size_t to : window_elements) {
      if (!may_be_maximum(x, to, max_index)) continue;
      sums.y.widen(to, std::abs(g) + e);
      is_certain = false;
    }
    sums.add(max_index, g, is_certain ? e : std::abs(g) + e);
  });
  return sums.finish(r);
}

std::vector<Bounded> argmax_backward_rule(const RuleInput& r) {
  const auto& op = r.as<PoolArgmaxBackward>();
  const Bounded &argmax_indices = r.input(0), &dy = r.input(1);
  Sums sums(r.outputs[0]);
  const Windows windows(r.outputs[0].shape, dy.spec.shape, op.window, op.spec);
  windows.for_each_window([&](size_t from, const std::vector<size_t>& window_elements) {
    const double g = dy.real[from], e = dy.error(from);
    if (argmax_indices.error(from) > 0)
      for (size_t to : window_elements) sums.y.widen(to, std::abs(g) + e);
    const auto max_index = static_cast<size_t>(argmax_indices.whole[from]);
    if (max_index < window_elements.size()) sums.add(window_elements[max_index], g, e);
  });
  return sums.finish(r);
}

constexpr OpRule kPoolingRules[] = {
    {Pool::kName, pool_rule},
    {PoolArgmax::kName, argmax_rule},
    {PoolBackward::kName, backward_rule},
    {PoolArgmaxBackward::kName, argmax_backward_rule},
};

}  // namespace

std::span<const OpRule> pooling_rules() { return kPoolingRules; }

}  // namespace crescent::validation
