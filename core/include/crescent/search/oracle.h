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

/// What is known of a trial.
struct CRESCENT_API TrialRecord {
  enum class State : uint8_t { unasked, running, complete, pruned, failed };

  bool ended() const { return state >= State::complete; }
  /// Whether it ended with a number.
  bool has_score() const;

  int64_t number = 0;  ///< from 1
  State state = State::unasked;
  Dict suggested;                  ///< what the oracle chose, by key of the hyperparameter
  std::string rest;                ///< how the others are chosen (Suggestion::rest)
  std::vector<size_t> parameters;  ///< the hyperparameters that it has, in order of their use
  Dict values;                     ///< the values of all of them, by name
  std::vector<std::pair<int64_t, double>> reports;  ///< steps and values
  std::optional<double> score;                      ///< NaN: it was no number
  double seconds = 0;                               ///< from the last start to the end
  std::string message;                              ///< why it failed
  Dict attributes;                                  ///< what the user noted
};
CRESCENT_API const char* name_of(TrialRecord::State state);

/// The trials of a study and the hyperparameters that they were found to have.
class CRESCENT_API TrialHistory {
 public:
  TrialHistory();
  ~TrialHistory();
  TrialHistory(TrialHistory&&) noexcept;
  TrialHistory& operator=(TrialHistory&&) noexcept;

  uint64_t seed = 0;
  int64_t lag = 1;        ///< trial k counts on the results of trials up to k - lag
  bool minimizes = true;  ///< whether less is better

  /// The trial with this number, from 1; one that was not asked for yet has the state `unasked`.
  const TrialRecord& at(int64_t number) const;
  /// The same to be changed; the history grows to have it.
  TrialRecord& record(int64_t number);
  int64_t size() const { return static_cast<int64_t>(trials_.size()); }
  const std::vector<Hyperparameter>& parameters() const { return parameters_; }
  /// The index of an equal hyperparameter, which is added when there is none of its key. Fails for
  /// one of the same key with other values.
  size_t index_of(const Hyperparameter& parameter);
  const Hyperparameter* find(std::string_view key) const;

  /// Whether the trials 1 to `number` have all ended.
  bool ended_through(int64_t number) const { return number <= ended_through_; }
  /// The number of the last trial whose result may count for this one; 0: none may.
  int64_t horizon(int64_t number) const { return number > lag ? number - lag : 0; }
  /// Notes that a trial has ended.
  void note_end();

  /// The score such that less is better.
  double cost(const TrialRecord& trial) const { return minimizes ? *trial.score : -*trial.score; }
  /// The values of a trial by the keys of its hyperparameters.
  Dict values_by_key(const TrialRecord& trial) const;

 private:
  std::vector<TrialRecord> trials_;
  std::vector<Hyperparameter> parameters_;
  int64_t ended_through_ = 0;
};

/// What an oracle chose for a trial.
struct Suggestion {
  /// How hyperparameters are chosen that the oracle does not mention: by chance, or the first value
  /// of their grid.
  enum class Rest : uint8_t { drawn, first };

  Dict values;  ///< by key of the hyperparameter (Hyperparameter::key)
  Rest rest = Rest::drawn;
};

class CRESCENT_API Oracle : public Plain {
 public:
  static constexpr const char* kKind = "oracle";
  ~Oracle() override;
  /// The number of trials, where the oracle sets it.
  virtual std::optional<int64_t> trials() const { return std::nullopt; }
  /// Whether the results that the suggestion for this trial counts on are all there. `suggest` must
  /// not look at others.
  virtual bool ready(const TrialHistory& history, int64_t number) const = 0;
  /// The suggestion for a trial that is ready; nullopt when the search ends before it.
  virtual std::optional<Suggestion> suggest(const TrialHistory& history, int64_t number) = 0;
  /// Whether a trial may be ready when one before it is not.
  virtual bool is_out_of_order() const { return false; }
};

/// A number from 0 to below 1 that follows from the seed, the number of a trial and a name.
CRESCENT_API double draw(uint64_t seed, int64_t number, std::string_view name);

}  // namespace crescent
