// Search over a grid of all hyperparameters, including those that only exist under conditions.
// Trials advance like the digits of a counter: the hyperparameter that was requested last takes its
// next value. If it has no next value, the hyperparameter before it advances instead, and those
// that follow begin with their first values again.
#include "crescent/registry/registration.h"
#include "crescent/search/oracle.h"

namespace crescent {
namespace {

class GridOracle final : public Oracle {
 public:
  static void describe(Schema<GridOracle>& s) {
    s.doc("Goes through all values; of numbers without a step through ten.");
  }
  /// The next suggestion can be made when the hyperparameters of the trial before it are known.
  bool ready(const TrialHistory& history, int64_t number) const override {
    const TrialRecord& previous_trial = history.at(number - 1);
    return number == 1 || !previous_trial.parameters.empty() || previous_trial.ended();
  }
  std::optional<Suggestion> suggest(const TrialHistory& history, int64_t number) override {
    if (number == 1) return Suggestion{{}, Suggestion::Rest::first};
    const TrialRecord& previous_trial = history.at(number - 1);
    for (size_t i = previous_trial.parameters.size(); i-- > 0;) {
      const Hyperparameter& parameter = history.parameters()[previous_trial.parameters[i]];
      const int64_t next_index = parameter.grid_index(previous_trial.values.at(parameter.name)) + 1;
      if (next_index >= parameter.grid_size()) continue;
      Suggestion suggestion{values_before(history, previous_trial, i), Suggestion::Rest::first};
      suggestion.values.set(parameter.key(), parameter.grid_value(next_index));
      return suggestion;
    }
    return std::nullopt;
  }

 private:
  /// The values of the first `count` hyperparameters of the trial.
  static Dict values_before(const TrialHistory& history, const TrialRecord& trial, size_t count) {
    Dict values;
    for (size_t i = 0; i < count; ++i) {
      const Hyperparameter& p = history.parameters()[trial.parameters[i]];
      values.set(p.key(), trial.values.at(p.name));
    }
    return values;
  }
};

}  // namespace

CRESCENT_REGISTER(grid_oracle) { registry.add<GridOracle>("grid"); }

}  // namespace crescent
