// Reports on the trials of a study: the best ones, a table, the importance of hyperparameters.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text_table.h"
#include "crescent/search/study.h"
#include "crescent/system/terminal.h"

namespace crescent {
namespace {

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", x);
  return text;
}

std::string cell_of(const Value* value) {
  if (!value) return "";
  if (value->is_float()) return short_number(value->as_float());
  return value->is_string() ? value->as_string() : to_text(*value);
}

/// The names of all hyperparameters with more than one value, in order of their first use.
std::vector<std::string> searched_names(const TrialHistory& history) {
  std::vector<std::string> names;
  for (const Hyperparameter& p : history.parameters())
    if (p.count() != 1 && std::find(names.begin(), names.end(), p.name) == names.end())
      names.push_back(p.name);
  return names;
}

// ---- importance

constexpr size_t kMaxGroups = 8;

struct Point {
  double position, cost;
  bool operator<(const Point& other) const { return position < other.position; }
};

/// The positions of the values of one hyperparameter, in order, with the costs of the trials that
/// have it.
std::vector<Point> points_of(const TrialHistory& history, size_t parameter) {
  std::vector<Point> points;
  const Hyperparameter& p = history.parameters()[parameter];
  for (int64_t i = 1; i <= history.size(); ++i) {
    const TrialRecord& trial = history.at(i);
    if (!trial.ended() || !trial.has_score()) continue;
    if (std::find(trial.parameters.begin(), trial.parameters.end(), parameter) !=
        trial.parameters.end())
      points.push_back({p.position(trial.values.at(p.name)), history.cost(trial)});
  }
  std::sort(points.begin(), points.end());
  return points;
}

/// Groups costs by neighbouring positions: one group for each position or, if there are more than
/// kMaxGroups positions, groups of about equal size.
std::vector<std::vector<double>> groups_of(const std::vector<Point>& points) {
  std::vector<std::vector<double>> costs_by_value;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i].position != points[i - 1].position) costs_by_value.emplace_back();
    costs_by_value.back().push_back(points[i].cost);
  }
  if (costs_by_value.size() <= kMaxGroups) return costs_by_value;
  const size_t count = std::clamp<size_t>(points.size() / 4, 2, kMaxGroups);
  std::vector<std::vector<double>> groups(count);
  for (size_t i = 0; i < points.size(); ++i)
    groups[i * count / points.size()].push_back(points[i].cost);
  return groups;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double sum_of_squared_deviations(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

/// The share of the variance of the costs that lies between the groups, minus the share that this
/// number of groups would have by chance.
double explained_variance(const std::vector<Point>& points) {
  const auto groups = groups_of(points);
  if (groups.size() < 2 || points.size() <= groups.size()) return 0;
  std::vector<double> costs;
  for (const Point& point : points) costs.push_back(point.cost);
  const double total_squares = sum_of_squared_deviations(costs, mean_of(costs));
  double within_squares = 0;
  for (const auto& group : groups)
    within_squares += sum_of_squared_deviations(group, mean_of(group));
  const auto n = static_cast<double>(points.size()), g = static_cast<double>(groups.size());
  return total_squares > 0 ? std::max(0.0, 1 - within_squares / total_squares * (n - 1) / (n - g))
                           : 0;
}

}  // namespace

std::vector<TrialRecord> Study::best(int64_t count) const {
  std::vector<const TrialRecord*> completed_trials;
  const TrialHistory& trial_history = history();
  for (int64_t i = 1; i <= trial_history.size(); ++i)
    if (trial_history.at(i).state == TrialRecord::State::complete &&
        trial_history.at(i).has_score())
      completed_trials.push_back(&trial_history.at(i));
  const int64_t result_count =
      std::clamp<int64_t>(count, 0, static_cast<int64_t>(completed_trials.size()));
  const auto end = completed_trials.begin() + result_count;
  std::partial_sort(completed_trials.begin(), end, completed_trials.end(),
                    [&](const auto* a, const auto* b) {
                      const double x = trial_history.cost(*a), y = trial_history.cost(*b);
                      return x != y ? x < y : a->number < b->number;
                    });
  std::vector<TrialRecord> best;
  for (auto trial = completed_trials.begin(); trial != end; ++trial) best.push_back(**trial);
  return best;
}

std::string Study::table(int64_t count) const {
  const TrialHistory& trial_history = history();
  int64_t state_counts[5] = {};
  for (int64_t i = 1; i <= trial_history.size(); ++i)
    ++state_counts[static_cast<int>(trial_history.at(i).state)];
  std::string text =
      concat("<study: ", trial_history.size(), trial_history.size() == 1 ? " trial" : " trials");
  for (const auto state : {TrialRecord::State::complete, TrialRecord::State::pruned,
                           TrialRecord::State::failed, TrialRecord::State::running})
    if (const int64_t n = state_counts[static_cast<int>(state)])
      text += concat(", ", n, " ", name_of(state));
  text += ">";
  const std::vector<TrialRecord> rows = best(count);
  if (rows.empty()) return text;
  std::vector<TextTable::Column> columns{{"Trial", true}, {"Score", true}};
  const std::vector<std::string> names = searched_names(trial_history);
  for (const std::string& name : names) columns.push_back({name});
  TextTable table(columns);
  for (const TrialRecord& trial : rows) {
    std::vector<std::string> cells{std::to_string(trial.number), short_number(*trial.score)};
    for (const std::string& name : names) cells.push_back(cell_of(trial.values.find(name)));
    table.add(std::move(cells));
  }
  for (const std::string& line : table.lines(static_cast<size_t>(fitting_columns(100, 40))))
    text += "\n" + line;
  return text;
}

std::vector<std::pair<std::string, double>> Study::importances() const {
  std::vector<std::pair<std::string, double>> result;
  for (size_t i = 0; i < history().parameters().size(); ++i)
    if (const Hyperparameter& p = history().parameters()[i]; p.count() != 1)
      result.emplace_back(p.key(), explained_variance(points_of(history(), i)));
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return result;
}

}  // namespace crescent
