// Oracle: chooses the hyperparameters of trials. Oracles are plugins of kind "oracle". What an
// oracle suggests for a trial is a function of the seed, the number of the trial and the results
// that it waits for, so that any number of processes that search together get the same suggestions.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crescent/registry/registry.h"
#include "crescent/search/hyperparameter.h"

namespace crescent {

/// The state, the hyperparameters and the result of a trial.
struct CRESCENT_API TrialRecord {
  enum class State : uint8_t { unasked, running, complete, pruned, failed };

  bool ended() const { return state >= State::complete; }
  /// Whether the trial ended with a finite score.
  bool has_score() const;

  int64_t number = 0;  ///< from 1
  State state = State::unasked;
  Dict suggested;    ///< the values that the oracle chose, by Hyperparameter::key
  std::string rest;  ///< how hyperparameters without a suggestion are chosen (Suggestion::rest)
  /// The hyperparameters of the trial in order of their use, as indices of
  /// TrialHistory::parameters.
  std::vector<size_t> parameters;
  Dict values;                                      ///< the values of all hyperparameters, by name
  std::vector<std::pair<int64_t, double>> reports;  ///< steps and the values reported at them
  std::optional<double> score;                      ///< NaN: the score was no number
  double seconds = 0;                               ///< time from the last start to the end
  std::string message;                              ///< why the trial failed
  Dict attributes;                                  ///< values that the user set (set_attribute)
};
CRESCENT_API const char* name_of(TrialRecord::State state);

/// The trials of a study, and all hyperparameters that these trials have used.
class CRESCENT_API TrialHistory {
 public:
  TrialHistory();
  ~TrialHistory();
  TrialHistory(TrialHistory&&) noexcept;
  TrialHistory& operator=(TrialHistory&&) noexcept;

  uint64_t seed = 0;
  int64_t lag = 1;        ///< trial k may use the results of the trials 1 to k - lag
  bool minimizes = true;  ///< whether lower scores are better

  /// Returns the trial with this number, from 1. A trial that nobody has asked for yet has the
  /// state `unasked`.
  const TrialRecord& at(int64_t number) const;
  /// Returns the trial with this number for changes; adds trials up to this number if needed.
  TrialRecord& record(int64_t number);
  int64_t size() const { return static_cast<int64_t>(trials_.size()); }
  const std::vector<Hyperparameter>& parameters() const { return parameters_; }
  /// Returns the index of a hyperparameter in parameters(). Adds the hyperparameter if parameters()
  /// has none with its key. Fails if the known hyperparameter with this key has another definition.
  size_t index_of(const Hyperparameter& parameter);
  const Hyperparameter* find(std::string_view key) const;

  /// Whether the trials 1 to `number` have all ended.
  bool ended_through(int64_t number) const { return number <= ended_through_; }
  /// The number of the last trial whose result may be used for this trial; 0 if there is none.
  int64_t horizon(int64_t number) const { return number > lag ? number - lag : 0; }
  /// Must be called after a trial has ended; updates ended_through().
  void note_end();

  /// The score, with its sign changed if higher scores are better: lower costs are better.
  double cost(const TrialRecord& trial) const { return minimizes ? *trial.score : -*trial.score; }
  /// The values of a trial by the keys of its hyperparameters.
  Dict values_by_key(const TrialRecord& trial) const;

 private:
  std::vector<TrialRecord> trials_;
  std::vector<Hyperparameter> parameters_;
  int64_t ended_through_ = 0;
};

/// The hyperparameters that an oracle chose for a trial.
struct Suggestion {
  /// How hyperparameters that are not in `values` are chosen: at random, or as the first value of
  /// their grid.
  enum class Rest : uint8_t { drawn, first };

  Dict values;  ///< by key of the hyperparameter (Hyperparameter::key)
  Rest rest = Rest::drawn;
};

class CRESCENT_API Oracle : public Plain {
 public:
  static constexpr const char* kKind = "oracle";
  ~Oracle() override;
  /// The number of trials, if the oracle determines it.
  virtual std::optional<int64_t> trials() const { return std::nullopt; }
  /// Whether all results are known that the suggestion for this trial depends on. suggest() must
  /// not use other results.
  virtual bool ready(const TrialHistory& history, int64_t number) const = 0;
  /// Returns the suggestion for a trial that is ready; nullopt if the search ends before this
  /// trial.
  virtual std::optional<Suggestion> suggest(const TrialHistory& history, int64_t number) = 0;
  /// Whether a trial may be ready while a trial with a lower number is not.
  virtual bool is_out_of_order() const { return false; }
};

/// A pseudo-random number from 0 to below 1, a function of the seed, the number of a trial and a
/// name.
CRESCENT_API double draw(uint64_t seed, int64_t number, std::string_view name);

}  // namespace crescent
