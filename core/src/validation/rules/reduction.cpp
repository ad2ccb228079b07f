// Reductions along axes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

/// For each element of x, the index of the element of the result that it is reduced to.
std::vector<size_t> result_indices_of(const Shape& x, const std::vector<int>& axes) {
  Shape kept_shape;
  for (int axis = 0; axis < x.rank(); ++axis)
    kept_shape.append(std::find(axes.begin(), axes.end(), axis) == axes.end() ? x[axis] : 1);
  return broadcast_offsets(kept_shape, x);
}

void finish_sum(const RuleInput& r, Bounded& y, const std::vector<double>& magnitude_sums,
                double count, double factor) {
  const double u = r.roundoff(), relative_sum_error = sum_roundoff(r.outputs[0].dtype, r.rounding);
  for (size_t i = 0; i < y.size(); ++i) {
    y.real[i] *= factor;
    if (!y.bound.empty()) y.bound[i] *= factor;
    if (count > 1 && magnitude_sums[i] > 0)
      y.widen(i, relative_sum_error * count * magnitude_sums[i] * factor +
                     2 * u * std::abs(y.real[i]) + r.tiny_sum(count));
  }
}

std::vector<Bounded> sum_rule(const RuleInput& r, const std::vector<size_t>& result_indices,
                              double count) {
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  std::vector<double> magnitude_sums(y.size(), 0);
  for (size_t i = 0; i < result_indices.size(); ++i) {
    y.real[result_indices[i]] += x.real[i],
        magnitude_sums[result_indices[i]] += std::abs(x.real[i]);
    y.widen(result_indices[i], x.error(i));
  }
  const bool is_mean = r.as<Reduce>().kind == ReduceKind::mean;
  finish_sum(r, y, magnitude_sums, count, is_mean ? 1 / count : 1);
  return {std::move(y)};
}

/// The maximum or minimum. Its error bound covers all elements that may be the maximum or minimum
/// within their own errors.
std::vector<Bounded> extreme_rule(const RuleInput& r, const std::vector<size_t>& result_indices) {
  const Bounded& x = r.input(0);
  const double sign = r.as<Reduce>().kind == ReduceKind::max ? 1 : -1;
  Bounded y = Bounded::zeros(r.outputs[0]);
  std::vector<double> certain_extremes(y.size(), -INFINITY);
  std::vector<bool> has_element(y.size());
  for (size_t i = 0; i < result_indices.size(); ++i) {
    if (!has_element[result_indices[i]] || sign * x.real[i] > sign * y.real[result_indices[i]])
      y.real[result_indices[i]] = x.real[i];
    has_element[result_indices[i]] = true;
    certain_extremes[result_indices[i]] =
        std::max(certain_extremes[result_indices[i]], sign * x.real[i] - x.error(i));
  }
  std::vector<double> errors(y.size(), 0);
  for (size_t i = 0; i < result_indices.size(); ++i) {
    if (x.error(i) > 0 && !(sign * x.real[i] + x.error(i) < certain_extremes[result_indices[i]]))
      errors[result_indices[i]] = std::max(errors[result_indices[i]], x.error(i));
  }
  for (size_t i = 0; i < y.size(); ++i) y.widen(i, errors[i]);
  return {std::move(y)};
}

std::vector<Bounded> prod_rule(const RuleInput& r, const std::vector<size_t>& result_indices,
                               double count) {
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  std::fill(y.real.begin(), y.real.end(), 1);
  std::vector<double> largest_products(y.size(), 1), magnitude_products(y.size(), 1);
  for (size_t i = 0; i < result_indices.size(); ++i) {
    y.real[result_indices[i]] *= x.real[i],
        magnitude_products[result_indices[i]] *= std::abs(x.real[i]);
    largest_products[result_indices[i]] *= std::abs(x.real[i]) + x.error(i);
  }
  for (size_t i = 0; i < y.size(); ++i)
    if (largest_products[i] != 0)
      y.widen(i, largest_products[i] - magnitude_products[i] +
                     r.roundoff() * count * largest_products[i] + r.tiny());
  return {std::move(y)};
}

std::vector<Bounded> logical_rule(const RuleInput& r, const std::vector<size_t>& result_indices) {
  const Bounded& x = r.input(0);
  const bool is_any = r.as<Reduce>().kind == ReduceKind::any;
  Bounded y = Bounded::zeros(r.outputs[0]);
  std::fill(y.whole.begin(), y.whole.end(), !is_any);
  std::vector<bool> is_decided(y.size()), has_uncertain_element(y.size());
  for (size_t i = 0; i < result_indices.size(); ++i) {
    if ((x.whole[i] != 0) == is_any) y.whole[result_indices[i]] = is_any;
    if (x.error(i) > 0)
      has_uncertain_element[result_indices[i]] = true;
    else if ((x.whole[i] != 0) == is_any)
      is_decided[result_indices[i]] = true;
  }
  for (size_t i = 0; i < y.size(); ++i)
    if (has_uncertain_element[i] && !is_decided[i]) y.widen(i, kUndecided);
  return {std::move(y)};
}

std::vector<Bounded> reduce_rule(const RuleInput& r) {
  const auto& op = r.as<Reduce>();
  const Bounded& x = r.input(0);
  const std::vector<size_t> result_indices = result_indices_of(x.spec.shape, op.axes);
  const double result_count = static_cast<double>(std::max<int64_t>(r.outputs[0].shape.size(), 1)),
               count = static_cast<double>(x.size()) / result_count;
  switch (op.kind) {
    case ReduceKind::any:
    case ReduceKind::all:
      return logical_rule(r, result_indices);
    case ReduceKind::sum:
    case ReduceKind::mean:
      if (x.is_real()) return sum_rule(r, result_indices, count);
      break;
    case ReduceKind::max:
    case ReduceKind::min:
      if (x.is_real()) return extreme_rule(r, result_indices);
      break;
    case ReduceKind::prod:
      if (x.is_real()) return prod_rule(r, result_indices, count);
      break;
  }
  return {Bounded::undecided(r.outputs[0])};  // there is no rule for integers with errors
}

std::vector<Bounded> arg_reduce_rule(const RuleInput& r) {
  const auto& op = r.as<ArgReduce>();
  const Bounded& x = r.input(0);
  const AxisExtents a(x.spec.shape, op.axis);
  const double sign = op.max ? 1 : -1;
  Bounded y = Bounded::zeros(r.outputs[0]);
  for (size_t i = 0; i < y.size(); ++i) {
    const auto before = static_cast<int64_t>(i) / a.after,
               after = static_cast<int64_t>(i) % a.after;
    const auto flat_index = [&](int64_t k) {
      return static_cast<size_t>((before * a.along + k) * a.after + after);
    };
    int64_t best_index = 0;
    for (int64_t k = 1; k < a.along; ++k)
      if (sign * x.number(flat_index(k)) > sign * x.number(flat_index(best_index))) best_index = k;
    y.whole[i] = best_index;
    for (int64_t k = 0; k < a.along; ++k) {
      const double gap = sign * (x.number(flat_index(best_index)) - x.number(flat_index(k))),
                   e = x.error(flat_index(best_index)) + x.error(flat_index(k));
      if ((k != best_index && e > 0 && gap <= e) || std::isnan(gap)) {
        y.widen(i, kUndecided);
        break;
      }
    }
  }
  return {std::move(y)};
}

std::vector<Bounded> cumulative_rule(const RuleInput& r) {
  const auto& op = r.as<Cumulative>();
  const Bounded& x = r.input(0);
  if (!x.is_real()) return {Bounded::undecided(r.outputs[0])};
  const AxisExtents a(x.spec.shape, op.axis);
  Bounded y = Bounded::zeros(r.outputs[0]);
  const double u = r.roundoff();
  for (int64_t line = 0; line < a.before * a.after; ++line) {
    double sum = 0, magnitude_sum = 0, error = 0;
    for (int64_t k = 0; k < a.along; ++k) {
      const int64_t step = op.reverse ? a.along - 1 - k : k;
      const auto flat_index =
          static_cast<size_t>((line / a.after * a.along + step) * a.after + line % a.after);
      sum += x.real[flat_index], magnitude_sum += std::abs(x.real[flat_index]),
          error += x.error(flat_index);
      y.real[flat_index] = sum;
      const auto term_count = static_cast<double>(k + 1);
      y.widen(flat_index,
              error + (k > 0 ? u * term_count * magnitude_sum + r.tiny_sum(term_count) : 0));
    }
  }
  return {std::move(y)};
}

std::vector<Bounded> top_k_rule(const RuleInput& r) {
  const Bounded& x = r.input(0);
  const int64_t n = x.spec.shape[-1], k = r.as<TopK>().k;
  Bounded values = Bounded::zeros(r.outputs[0]), indices = Bounded::zeros(r.outputs[1]);
  const int64_t rows = n > 0 ? static_cast<int64_t>(x.size()) / n : 0;
  std::vector<int64_t> order(n);
  for (int64_t row = 0; row < rows; ++row) {
    const auto flat_index = [&](int64_t i) { return static_cast<size_t>(row * n + i); };
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return x.number(flat_index(i)) > x.number(flat_index(j));
    });
    double error = 0;
    for (int64_t i = 0; i < n; ++i) error = std::max(error, x.error(flat_index(i)));
    for (int64_t i = 0; i < k; ++i) {
      const auto target_index = static_cast<size_t>(row * k + i);
      const auto gap = [&](int64_t j) {
        return std::abs(x.number(flat_index(order[j])) - x.number(flat_index(order[i])));
      };
      const bool is_close =
          (i > 0 && gap(i - 1) <= 2 * error) || (i + 1 < n && gap(i + 1) <= 2 * error);
      if (values.is_real())
        values.real[target_index] = x.real[flat_index(order[i])];
      else
        values.whole[target_index] = x.whole[flat_index(order[i])];
      indices.whole[target_index] = order[i];
      values.widen(target_index, error);
      if (is_undecided(error) || (error > 0 && is_close)) indices.widen(target_index, kUndecided);
    }
  }
  return {std::move(values), std::move(indices)};
}

constexpr OpRule kReductionRules[] = {
    {Reduce::kName, reduce_rule},
    {ArgReduce::kName, arg_reduce_rule},
    {Cumulative::kName, cumulative_rule},
    {TopK::kName, top_k_rule},
};

}  // namespace

std::span<const OpRule> reduction_rules() { return kReductionRules; }

}  // namespace crescent::validation
