#include "search/pruner.h"

#include <algorithm>
#include <cmath>

namespace crescent {
namespace {

/// The cost of a reported value; a NaN is worse than any number.
double cost_of(const TrialHistory& history, double value) {
  if (std::isnan(value)) return INFINITY;
  return history.minimizes ? value : -value;
}

/// The costs that complete trials reported at this step, sorted. Only the trials 1 to `horizon`
/// count.
std::vector<double> costs_at(const TrialHistory& history, int64_t horizon, int64_t step) {
  std::vector<double> costs;
  for (int64_t i = 1; i <= horizon; ++i) {
    const TrialRecord& earlier_trial = history.at(i);
    if (earlier_trial.state != TrialRecord::State::complete) continue;
    for (const auto& [report_step, value] : earlier_trial.reports)
      if (report_step == step) costs.push_back(cost_of(history, value));
  }
  std::sort(costs.begin(), costs.end());
  return costs;
}

/// The least cost that the trial reported up to this step.
double best_up_to(const TrialHistory& history, const TrialRecord& trial, int64_t last_step) {
  double least_cost = INFINITY;
  for (const auto& [step, value] : trial.reports)
    if (step <= last_step) least_cost = std::min(least_cost, cost_of(history, value));
  return least_cost;
}

/// The percentile of sorted numbers, with linear interpolation between neighbours.
double percentile_of(const std::vector<double>& sorted_numbers, double percent) {
  const double position = percent / 100 * static_cast<double>(sorted_numbers.size() - 1);
  const auto lower_index = static_cast<size_t>(position);
  const double low = sorted_numbers[lower_index],
               high = sorted_numbers[std::min(lower_index + 1, sorted_numbers.size() - 1)];
  return low == high ? low : low + (high - low) * (position - static_cast<double>(lower_index));
}

}  // namespace

void Pruner::describe(Schema<Pruner>& s) {
  s.doc("Ends trials that are worse than earlier ones were at the same step.")
      .field(
          "percentile", &Pruner::percentile,
          "A trial goes on while it is among this share of the trials, the best; 50: the median.")
      .min(0)
      .max(100)
      .field("n_startup_trials", &Pruner::n_startup_trials,
             "How many complete trials there must be to compare with.")
      .min(1)
      .field("n_warmup_steps", &Pruner::n_warmup_steps, "Before this step no trial is pruned.")
      .min(0);
}

Pruner Pruner::from(const Value& option) {
  Pruner pruner;
  if (option.is_string() && option.as_string() != "median")
    fail("pruner: expected \"median\" or its options, got ", option);
  if (!option.is_string()) schema_of<Pruner>("pruner").configure(&pruner, option.as_dict());
  return pruner;
}

Dict Pruner::options() const { return schema_of<Pruner>("pruner").read(this); }

bool Pruner::should_prune(const TrialHistory& history, const TrialRecord& trial,
                          int64_t step) const {
  if (step < 0 || step < n_warmup_steps) return false;
  const std::vector<double> other_costs = costs_at(history, history.horizon(trial.number), step);
  if (static_cast<int64_t>(other_costs.size()) < n_startup_trials) return false;
  return best_up_to(history, trial, step) > percentile_of(other_costs, percentile);
}

}  // namespace crescent
