// Bayesian optimization: a Gaussian process, fitted to the results so far, predicts where the
// greatest improvement is to be expected.
//
// A suggestion uses only the results of trials up to its horizon (TrialHistory::horizon). Of the
// trials between the horizon and the suggested one it uses only the positions, which it avoids.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "crescent/ops/random.h"
#include "crescent/registry/registration.h"
#include "crescent/search/oracle.h"
#include "gaussian_process.h"

namespace crescent {
namespace {

/// The largest number of trials from which predictions are computed, and the largest number of
/// trials to which length scales are fitted.
constexpr size_t kMaxObservations = 64, kMaxFittedObservations = 48;
/// If there are more than kMaxFittedObservations trials, length scales are fitted again after this
/// number of further trials.
constexpr int64_t kFitInterval = 8;
/// The numbers of candidate points: uniform random points, points around the point of the best
/// trial, and points around the best of these candidates.
constexpr size_t kUniformCandidates = 128, kCandidatesAroundBest = 64, kRefiningCandidates = 32;
constexpr double kInactiveCoordinate =
    0.5;  // the coordinate of a hyperparameter that a trial does not have

/// A stream of random numbers for one trial, which depends only on the seed and the number of the
/// trial.
class RandomStream {
 public:
  RandomStream(uint64_t seed, int64_t trial_number)
      : seed_(seed), trial_number_(static_cast<uint64_t>(trial_number)) {}
  double uniform() {
    const PhiloxBlock block = philox(seed_, trial_number_, counter_++);
    return static_cast<double>((uint64_t{block.word[0]} << 32 | block.word[1]) >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t seed_, trial_number_, counter_ = 0;
};

/// The hyperparameters that are searched, as the dimensions of a unit cube.
class SearchSpace {
 public:
  /// Takes from the hyperparameters with these `indices` those that have several values, and
  /// sorts them by key, because the order in which they were found may differ from one search to
  /// the next.
  SearchSpace(const TrialHistory& history, const std::vector<size_t>& indices) {
    for (const size_t p : indices)
      if (history.parameters()[p].count() != 1) parameters_.push_back(history.parameters()[p]);
    std::sort(parameters_.begin(), parameters_.end(),
              [](const auto& a, const auto& b) { return a.key() < b.key(); });
    for (const Hyperparameter& p : parameters_) parameter_names_.push_back(p.key());
  }

  size_t size() const { return parameters_.size(); }
  Points empty_points() const {
    Points points{size(), {}, {}};
    for (const Hyperparameter& p : parameters_) points.categorical.push_back(p.is_categorical());
    return points;
  }

  std::vector<double> point_of(const Dict& values) const {
    std::vector<double> point(size(), kInactiveCoordinate);
    for (size_t d = 0; d < size(); ++d)
      if (const Value* value = values.find(parameter_names_[d]))
        point[d] = parameters_[d].position(*value);
    return point;
  }

  /// The point where a trial that has not registered its values yet is expected to be: suggested
  /// values are used, others are drawn as the trial draws them.
  std::vector<double> expected_point(const TrialRecord& trial, uint64_t seed) const {
    std::vector<double> point(size());
    for (size_t d = 0; d < size(); ++d) {
      const Value* value = trial.suggested.find(parameter_names_[d]);
      point[d] =
          value ? parameters_[d].position(*value) : draw(seed, trial.number, parameter_names_[d]);
    }
    return to_possible_values(point);
  }

  /// Moves each coordinate to that of a possible value, or to kInactiveCoordinate if the
  /// hyperparameter does not exist at this point.
  std::vector<double> to_possible_values(std::vector<double> point) const {
    for (size_t d = 0; d < size(); ++d) {
      point[d] = std::clamp(point[d], 0.0, 1 - 0x1p-53);
      if (parameters_[d].count()) point[d] = parameters_[d].position(parameters_[d].at(point[d]));
    }
    for (size_t d = 0; d < size(); ++d)
      if (!exists(d, point)) point[d] = kInactiveCoordinate;
    return point;
  }

  Dict values_at(const double* point) const {
    const std::vector<double> coordinates(point, point + size());
    Dict values;
    for (size_t d = 0; d < size(); ++d)
      if (exists(d, coordinates))
        values.set(parameter_names_[d], parameters_[d].at(coordinates[d]));
    return values;
  }

 private:
  bool exists(size_t dimension, const std::vector<double>& point) const {
    for (const Condition& condition : parameters_[dimension].conditions)
      for (size_t d = 0; d < size(); ++d) {
        if (parameters_[d].name != condition.parent) continue;
        const Value value = parameters_[d].at(point[d]);
        if (std::find(condition.values.begin(), condition.values.end(), value) ==
            condition.values.end())
          return false;
      }
    return true;
  }

  std::vector<Hyperparameter> parameters_;
  std::vector<std::string> parameter_names_;
};

/// The number of a trial, and its cost.
struct Observation {
  int64_t number;
  double cost;
};

/// The results of the trials up to a horizon. They are kept for the next suggestion, whose horizon
/// is usually the same or greater.
class TrialResults {
 public:
  /// Adds the results of the trials up to the horizon. If the history is another one or the horizon
  /// is smaller than before, discards all earlier results first and returns true.
  bool extend(const TrialHistory& history, int64_t horizon) {
    const bool is_new_history = &history != history_ || horizon < trial_count();
    if (is_new_history) *this = {};
    history_ = &history;
    for (int64_t i = trial_count() + 1; i <= horizon; ++i) {
      const TrialRecord& trial = history.at(i);
      costs_.push_back(trial.has_score() ? history.cost(trial) : INFINITY);
      scored_count_ += trial.has_score();
      for (const size_t p : trial.parameters)
        if (std::find(parameters_.begin(), parameters_.end(), p) == parameters_.end())
          parameters_.push_back(p);
    }
    return is_new_history;
  }
  const std::vector<size_t>& parameters() const { return parameters_; }
  size_t scored_count() const { return scored_count_; }

  /// At most `max_count` of the trials 1 to `last_trial`: three quarters of this number are the
  /// best trials, and one quarter are the latest of the others. Trials without a score get the cost
  /// of the worst trial, so that the search avoids their region. If no trial has a score, the
  /// result is empty.
  std::vector<Observation> selected_observations(int64_t last_trial, size_t max_count) const {
    std::vector<Observation> observations;
    double worst_cost = -INFINITY;
    for (int64_t i = 1; i <= last_trial; ++i) {
      observations.push_back({i, costs_[static_cast<size_t>(i - 1)]});
      if (std::isfinite(observations.back().cost))
        worst_cost = std::max(worst_cost, observations.back().cost);
    }
    if (!std::isfinite(worst_cost)) return {};
    for (Observation& observation : observations)
      observation.cost = std::min(observation.cost, worst_cost);
    if (observations.size() <= max_count) return observations;
    const auto move_to_front = [&](size_t count, auto from, auto is_less) {
      std::nth_element(from, observations.begin() + static_cast<std::ptrdiff_t>(count),
                       observations.end(), is_less);
      std::sort(from, observations.begin() + static_cast<std::ptrdiff_t>(count), is_less);
    };
    const size_t best_count = max_count * 3 / 4;
    move_to_front(best_count, observations.begin(), [](const Observation& a, const Observation& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
    });
    move_to_front(max_count, observations.begin() + static_cast<std::ptrdiff_t>(best_count),
                  [](const Observation& a, const Observation& b) { return a.number > b.number; });
    observations.resize(max_count);
    return observations;
  }

 private:
  int64_t trial_count() const { return static_cast<int64_t>(costs_.size()); }

  const TrialHistory* history_ = nullptr;
  /// The costs of the trials from 1 on; infinite for a trial without a score.
  std::vector<double> costs_;
  std::vector<size_t> parameters_;
  size_t scored_count_ = 0;
};

/// The costs, scaled to mean 0 and standard deviation 1. High outliers are first reduced to 1.5
/// interquartile ranges above the upper quartile.
std::vector<double> standardized_costs(const std::vector<Observation>& observations) {
  std::vector<double> costs, sorted_costs;
  for (const Observation& observation : observations) costs.push_back(observation.cost);
  sorted_costs = costs;
  std::sort(sorted_costs.begin(), sorted_costs.end());
  const double lower_quartile = sorted_costs[sorted_costs.size() / 4],
               upper_quartile = sorted_costs[sorted_costs.size() * 3 / 4];
  double sum = 0, sum_of_squares = 0;
  for (double& cost : costs)
    sum += cost = std::min(cost, upper_quartile + 1.5 * (upper_quartile - lower_quartile));
  const auto n = static_cast<double>(costs.size());
  for (double& cost : costs) cost -= sum / n, sum_of_squares += cost * cost;
  const double deviation = std::sqrt(sum_of_squares / n);
  for (double& cost : costs) cost = deviation > 0 ? cost / deviation : 0;
  return costs;
}

double expected_improvement(const GaussianProcess::Normal& prediction, double best_cost) {
  const double z = (best_cost - prediction.mean) / prediction.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return prediction.deviation * (z * std::erfc(-z / std::numbers::sqrt2) / 2 + density);
}

class BayesianOracle final : public Oracle {
 public:
  static void describe(Schema<BayesianOracle>& s) {
    s.doc("Chooses where a Gaussian process over the results expects the greatest improvement.")
        .field(
            "num_initial_points", &BayesianOracle::num_initial_points_,
            "Results before which it chooses by chance; 3 for each hyperparameter when not given.")
        .min(1)
        .field("alpha", &BayesianOracle::alpha_, "The variance of the noise of scores.")
        .min(1e-8)
        .field("beta", &BayesianOracle::beta_,
               "Chooses by mean less so many deviations, instead of by the expected improvement.")
        .min(0);
  }

  bool ready(const TrialHistory& history, int64_t number) const override {
    return history.ended_through(history.horizon(number));
  }

  std::optional<Suggestion> suggest(const TrialHistory& history, int64_t number) override {
    const int64_t horizon = history.horizon(number);
    if (results_.extend(history, horizon)) fitted_horizon_ = -1;
    const SearchSpace space(history, results_.parameters());
    const auto initial_count =
        static_cast<size_t>(num_initial_points_.value_or(3 * static_cast<int64_t>(space.size())));
    if (space.size() == 0 || results_.scored_count() < std::max<size_t>(initial_count, 1))
      return Suggestion();
    const std::vector<Observation> observations =
        results_.selected_observations(horizon, kMaxObservations);
    Points points = points_of(space, observations, history);
    for (int64_t i = horizon + 1; i < number; ++i)
      points.add(space.expected_point(history.at(i), history.seed));
    const std::vector<double> costs = standardized_costs(observations);
    const GaussianProcess process(points, costs, length_scales(history, space, horizon), alpha_);
    return Suggestion{
        best_values(space, process, points, costs, RandomStream(history.seed, number)), {}};
  }

 private:
  static Points points_of(const SearchSpace& space, const std::vector<Observation>& observations,
                          const TrialHistory& history) {
    Points points = space.empty_points();
    for (const Observation& observation : observations)
      points.add(space.point_of(history.values_by_key(history.at(observation.number))));
    return points;
  }

  /// The length scales, fitted to the results up to the horizon; if there are many results, up to
  /// the last multiple of kFitInterval.
  const std::vector<double>& length_scales(const TrialHistory& history, const SearchSpace& space,
                                           int64_t horizon) {
    if (horizon > static_cast<int64_t>(kMaxFittedObservations)) horizon -= horizon % kFitInterval;
    if (horizon != fitted_horizon_ || length_scales_.size() != space.size()) {
      const auto observations = results_.selected_observations(horizon, kMaxFittedObservations);
      length_scales_ = GaussianProcess::likely_length_scales(
          points_of(space, observations, history), standardized_costs(observations), alpha_);
      fitted_horizon_ = horizon;
    }
    return length_scales_;
  }

  /// The expected benefit of a trial at a point, by which candidates are compared.
  double expected_gain(const GaussianProcess::Normal& prediction, double best_cost) const {
    return beta_ ? *beta_ * prediction.deviation - prediction.mean
                 : expected_improvement(prediction, best_cost);
  }

  /// The values at the best of the candidate points: uniform random points, points around the best
  /// observed point, and finally points around the best of these candidates.
  Dict best_values(const SearchSpace& space, const GaussianProcess& process,
                   const Points& observed_points, const std::vector<double>& costs,
                   RandomStream random) const {
    const auto best =
        static_cast<size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    const size_t dimension_count = space.size();
    std::vector<double> center(observed_points.at(best),
                               observed_points.at(best) + dimension_count);
    double best_gain = -INFINITY;
    const auto keep_best_of = [&](const Points& points) {
      const auto predictions = process.predict(points);
      for (size_t i = 0; i < predictions.size(); ++i)
        if (const double candidate_gain = expected_gain(predictions[i], costs[best]);
            candidate_gain > best_gain)
          best_gain = candidate_gain, center.assign(points.at(i), points.at(i) + dimension_count);
    };
    const auto point_around = [&](double deviation) {
      std::vector<double> point = center;
      for (double& x : point)
        if (random.uniform() < 0.5 || dimension_count == 1) x += deviation * random.normal();
      return space.to_possible_values(std::move(point));
    };
    Points candidates = space.empty_points();
    for (size_t i = 0; i < kUniformCandidates; ++i) {
      std::vector<double> point(dimension_count);
      for (double& x : point) x = random.uniform();
      candidates.add(space.to_possible_values(std::move(point)));
    }
    for (size_t i = 0; i < kCandidatesAroundBest; ++i)
      candidates.add(point_around(i % 2 == 0 ? 0.2 : 0.05));
    keep_best_of(candidates);
    Points refined = space.empty_points();
    for (size_t i = 0; i < kRefiningCandidates; ++i) refined.add(point_around(0.02));
    keep_best_of(refined);
    return space.values_at(center.data());
  }

  TrialResults results_;
  std::vector<double> length_scales_;
  int64_t fitted_horizon_ = -1;
  std::optional<int64_t> num_initial_points_;
  double alpha_ = 1e-4;
  std::optional<double> beta_;
};

}  // namespace

CRESCENT_REGISTER(bayesian_oracle) { registry.add<BayesianOracle>("bayesian"); }

}  // namespace crescent
