// Ops that read or write at integer indices.
#include <algorithm>
#include <cmath>

#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

void gather_element(const Bounded& x, size_t from, bool is_certain, Bounded& y, size_t to) {
  if (y.is_real())
    y.real[to] = x.real[from];
  else
    y.whole[to] = x.whole[from];
  y.widen(to, is_certain ? x.error(from) : kUndecided);
}

std::vector<Bounded> gather_rule(const RuleInput& r) {
  const Bounded &x = r.input(0), &indices = r.input(1);
  const AxisExtents a(x.spec.shape, r.as<Gather>().axis);
  Bounded y = Bounded::zeros(r.outputs[0]);
  const auto count = static_cast<int64_t>(indices.size());
  size_t result_index = 0;
  for (int64_t before = 0; before < a.before; ++before) {
    for (int64_t k = 0; k < count; ++k) {
      const size_t index = k;
      const int64_t row = std::clamp<int64_t>(indices.whole[index], 0, a.along - 1);
      for (int64_t b = 0; b < a.after; ++b, ++result_index)
        gather_element(x, (before * a.along + row) * a.after + b, indices.error(index) == 0, y,
                       result_index);
    }
  }
  return {std::move(y)};
}

std::vector<Bounded> take_along_rule(const RuleInput& r) {
  const Bounded &x = r.input(0), &indices = r.input(1);
  const int axis = r.as<TakeAlong>().axis;
  const AxisExtents source_extents(x.spec.shape, axis), result_extents(r.outputs[0].shape, axis);
  Bounded y = Bounded::zeros(r.outputs[0]);
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t result_index = static_cast<int64_t>(i),
                  after = result_index % result_extents.after,
                  before = result_index / (result_extents.after * result_extents.along);
    const int64_t row = std::clamp<int64_t>(indices.whole[i], 0, source_extents.along - 1);
    gather_element(x, (before * source_extents.along + row) * source_extents.after + after,
                   indices.error(i) == 0, y, i);
  }
  return {std::move(y)};
}

std::vector<Bounded> scatter_add_rule(const RuleInput& r) {
  const Bounded &indices = r.input(0), &updates = r.input(1);
  if (!indices.is_exact() || !updates.is_real()) return {Bounded::undecided(r.outputs[0])};
  const AxisExtents a(r.outputs[0].shape, r.as<ScatterAdd>().axis);
  Bounded y = Bounded::zeros(r.outputs[0]);
  std::vector<double> magnitude_sums(y.size(), 0), term_counts(y.size(), 0);
  const auto count = static_cast<int64_t>(indices.size());
  size_t source_index = 0;
  for (int64_t before = 0; before < a.before; ++before) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = indices.whole[k];
      for (int64_t b = 0; b < a.after; ++b, ++source_index) {
        if (row < 0 || row >= a.along) continue;
        const size_t target_index = (before * a.along + row) * a.after + b;
        y.real[target_index] += updates.real[source_index],
            magnitude_sums[target_index] += std::abs(updates.real[source_index]),
            ++term_counts[target_index];
        y.widen(target_index, updates.error(source_index));
      }
    }
  }
  // A kernel may store partial sums in the dtype of the output, without a wider accumulator.
  const double u = r.roundoff();
  for (size_t i = 0; i < y.size(); ++i)
    if (term_counts[i] > 1)
      y.widen(i, u * term_counts[i] * magnitude_sums[i] + r.tiny_sum(term_counts[i]));
  return {std::move(y)};
}

std::vector<Bounded> one_hot_rule(const RuleInput& r) {
  const Bounded& indices = r.input(0);
  const int64_t depth = r.as<OneHot>().depth;
  Bounded y = Bounded::zeros(r.outputs[0]);
  for (size_t i = 0; i < indices.size(); ++i) {
    for (int64_t k = 0; k < depth; ++k) {
      const size_t target_index = i * static_cast<size_t>(depth) + static_cast<size_t>(k);
      const bool is_hot = indices.whole[i] == k;
      if (y.is_real())
        y.real[target_index] = is_hot;
      else
        y.whole[target_index] = is_hot;
      if (indices.error(i) > 0) y.widen(target_index, y.is_real() ? 1 : kUndecided);
    }
  }
  return {std::move(y)};
}

constexpr OpRule kIndexingRules[] = {
    {Gather::kName, gather_rule},
    {TakeAlong::kName, take_along_rule},
    {ScatterAdd::kName, scatter_add_rule},
    {OneHot::kName, one_hot_rule},
};

}  // namespace

std::span<const OpRule> indexing_rules() { return kIndexingRules; }

}  // namespace crescent::validation
