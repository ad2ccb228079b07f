// Hyperband (Li et al. 2018) with the brackets of KerasTuner: many trials begin with few epochs,
// and the best ones of each round continue with more. Trials are numbered bracket by bracket and
// round by round; a trial of a later round depends on the results of the whole round before it.
#include <algorithm>
#include <cmath>

#include "crescent/registry/registration.h"
#include "crescent/search/oracle.h"

namespace crescent {
namespace {

/// A round of a bracket: its trials are numbered from `first_trial` on.
struct Round {
  int64_t bracket, round, first_trial, trial_count, epochs, previous_epochs;
  /// The number of trials of the previous round, whose last trial has the number `first_trial` - 1.
  int64_t previous_trial_count;
};

class HyperbandOracle final : public Oracle {
 public:
  static void describe(Schema<HyperbandOracle>& s) {
    s.doc("Gives many trials few epochs, and the best of them more.")
        .field("max_epochs", &HyperbandOracle::max_epochs_, "Of the trials that come farthest.")
        .min(1)
        .field("factor", &HyperbandOracle::factor_,
               "Of a round one in so many trials goes on, with so many times the epochs.")
        .min(2)
        .field("hyperband_iterations", &HyperbandOracle::iterations_, "How often all is done.")
        .min(1);
  }

  void configured() override {
    rounds_.clear();
    int64_t next_trial = 1;
    for (int64_t i = 0; i < iterations_; ++i)
      for (int64_t bracket = bracket_count() - 1; bracket >= 0; --bracket)
        for (int64_t round = 0; round <= bracket; ++round) {
          const int64_t trial_count = trials_in(bracket, round);
          rounds_.push_back({bracket, round, next_trial, trial_count, epochs_in(bracket, round),
                             round > 0 ? epochs_in(bracket, round - 1) : 0,
                             round > 0 ? trials_in(bracket, round - 1) : 0});
          next_trial += trial_count;
        }
  }

  std::optional<int64_t> trials() const override {
    return rounds_.back().first_trial + rounds_.back().trial_count - 1;
  }
  bool is_out_of_order() const override { return true; }

  bool ready(const TrialHistory& history, int64_t number) const override {
    const Round& round = round_of(number);
    for (int64_t i = round.first_trial - round.previous_trial_count; i < round.first_trial; ++i)
      if (!history.at(i).ended()) return false;
    return true;
  }

  std::optional<Suggestion> suggest(const TrialHistory& history, int64_t number) override {
    const Round& round = round_of(number);
    Suggestion suggestion;
    if (round.round > 0) {
      const TrialRecord& promoted = promoted_trial(history, round, number - round.first_trial);
      suggestion.values = history.values_by_key(promoted);
      suggestion.values.set("tuner/trial_id", promoted.number);
    }
    suggestion.values.set("tuner/epochs", round.epochs);
    suggestion.values.set("tuner/initial_epoch", round.previous_epochs);
    suggestion.values.set("tuner/bracket", round.bracket);
    suggestion.values.set("tuner/round", round.round);
    return suggestion;
  }

 private:
  int64_t bracket_count() const {
    int64_t count = 0;
    for (double epochs = static_cast<double>(max_epochs_); epochs >= 1; epochs /= factor()) ++count;
    return count;
  }
  /// The number of trials in a round, such that all brackets take about the same number of epochs.
  int64_t trials_in(int64_t bracket, int64_t round) const {
    const double round_count =
        std::ceil(1 + std::log(static_cast<double>(max_epochs_)) / std::log(factor()));
    const double scale = std::pow(factor(), static_cast<double>(bracket - round));
    return static_cast<int64_t>(std::ceil(round_count / static_cast<double>(bracket + 1) * scale));
  }
  int64_t epochs_in(int64_t bracket, int64_t round) const {
    const double scale = std::pow(factor(), static_cast<double>(bracket - round));
    return static_cast<int64_t>(std::ceil(static_cast<double>(max_epochs_) / scale));
  }
  double factor() const { return static_cast<double>(factor_); }

  const Round& round_of(int64_t number) const {
    const auto next_round = std::upper_bound(
        rounds_.begin(), rounds_.end(), number,
        [](int64_t value, const Round& round) { return value < round.first_trial; });
    return *std::prev(next_round);
  }

  /// The trial of the previous round with rank `rank`, counted from 0, by its score; trials
  /// without a score come last.
  static const TrialRecord& promoted_trial(const TrialHistory& history, const Round& round,
                                           int64_t rank) {
    std::vector<const TrialRecord*> previous_trials;
    for (int64_t i = round.first_trial - round.previous_trial_count; i < round.first_trial; ++i)
      previous_trials.push_back(&history.at(i));
    const auto cost = [&](const TrialRecord* trial) {
      return trial->has_score() ? history.cost(*trial) : INFINITY;
    };
    std::stable_sort(previous_trials.begin(), previous_trials.end(),
                     [&](const auto* a, const auto* b) { return cost(a) < cost(b); });
    return *previous_trials[std::min(static_cast<size_t>(rank), previous_trials.size() - 1)];
  }

  int64_t max_epochs_ = 100, factor_ = 3, iterations_ = 1;
  std::vector<Round> rounds_;
};

}  // namespace

CRESCENT_REGISTER(hyperband_oracle) { registry.add<HyperbandOracle>("hyperband"); }

}  // namespace crescent
