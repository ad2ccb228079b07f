// Study: a search for good hyperparameters, trial by trial. The trials are recorded in a journal,
// which any number of processes can share. A trial whose process was killed is given to the next
// process that calls ask().
//
//   auto study = Study::open({{"oracle", "random"}, {"seed", 1}, {"max_trials", 20}});
//   while (auto trial = study->ask()) {
//     const double x = trial->suggest(Hyperparameter::real("x", -5, 5)).as_float();
//     study->tell(*trial, x * x);
//   }
//   study->best(1).front().values.at("x");
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crescent/search/oracle.h"

namespace crescent {

/// The values of hyperparameters by name. suggest() adds those that are not yet there.
class CRESCENT_API HyperParameters : public Object {
 public:
  ~HyperParameters() override;
  std::string class_name() const override { return "HyperParameters"; }
  static void describe_members(Schema<HyperParameters>& s);

  /// Returns the value of a hyperparameter, which is chosen at the first call for its name; null if
  /// its conditions do not hold. Each scope that was pushed and not yet popped adds its name as a
  /// prefix, or its condition.
  Value suggest(Hyperparameter parameter);
  /// Returns the value with this name; fails if there is none.
  Value get(const std::string& name) const;
  const Dict& values() const { return values_; }
  void set_value(const std::string& name, Value value) { values_.set(name, std::move(value)); }
  /// The definitions of the hyperparameters, in the order of the first calls of suggest().
  const std::vector<Hyperparameter>& space() const { return space_; }

  /// Until pop_scope() is called, names of hyperparameters begin with `name` and "/".
  void push_name_scope(const std::string& name);
  /// Until pop_scope() is called, hyperparameters exist only if `parent` has one of these values.
  /// Returns whether `parent` has one of them.
  bool push_condition(const std::string& parent, List values);
  void pop_scope();

 protected:
  /// Returns the definition that replaces the one given to suggest().
  virtual Hyperparameter definition(Hyperparameter parameter) const { return parameter; }
  /// Chooses the value of a new hyperparameter.
  virtual Value choose(const Hyperparameter& parameter) const;
  Dict values_;
  std::vector<Hyperparameter> space_;

 private:
  bool holds(const Condition& condition) const;
  std::vector<std::string> scopes_;  ///< names of the open scopes; empty for a condition
  std::vector<Condition> conditions_;
};

class Study;

/// A trial that this process runs. If the object is destroyed before Study::tell() was called for
/// it, the next ask() gets the trial.
class CRESCENT_API Trial final : public HyperParameters {
 public:
  Trial(std::shared_ptr<Study> study, int64_t number);
  ~Trial() override;
  std::string class_name() const override { return "Trial"; }
  static void describe_members(Schema<Trial>& s);

  int64_t number() const { return number_; }  ///< from 1
  /// A seed for the random numbers of the trial, a function of the seed of the study and of
  /// number().
  int64_t seed() const;
  const TrialRecord& record() const;
  /// Writes new hyperparameters and their values into the journal, where oracles find them; tell()
  /// and report() call it.
  void save_values();
  /// Reports the value, such as a validation loss, that the trial has reached after `step` steps. A
  /// step that was reported before keeps its value, because a trial that was interrupted and goes
  /// on may repeat a step.
  void report(double value, int64_t step);
  /// Whether the study's pruner finds the trial worse than earlier trials were at the step of the
  /// last report().
  bool should_prune() const;
  void set_attribute(const std::string& name, Value value);
  /// Gives up the trial without ending it; the next ask() of any process gets the trial.
  void release();
  Study& study() const { return *study_; }

 protected:
  Hyperparameter definition(Hyperparameter parameter) const override;
  Value choose(const Hyperparameter& parameter) const override;

 private:
  friend class Study;
  std::shared_ptr<Study> study_;
  int64_t number_;
  size_t saved_ = 0;   ///< how many of the hyperparameters are in the journal
  int64_t step_ = -1;  ///< the last step that this object reported
};
using TrialPtr = std::shared_ptr<Trial>;

/// The options of a study.
struct CRESCENT_API StudyOptions {
  Ref<Oracle> oracle = "random";       ///< what chooses the values
  std::string direction = "minimize";  ///< which scores are better: "minimize" or "maximize"
  std::optional<int64_t> max_trials;   ///< nullopt: the search has no end
  std::optional<int64_t> seed;         ///< determines the suggestions; nullopt: drawn
  int64_t lag = 8;                     ///< trial k uses the results of the trials up to k - lag
  Value pruner;                        ///< "median" or its options; null: no trial is pruned
  std::string journal;                 ///< the file that all processes share; empty: memory
  bool sync = false;                   ///< whether each record is written to the disk at once
  /// Hyperparameters whose definitions replace those that trials ask for under the same names.
  std::shared_ptr<HyperParameters> hyperparameters;
  /// Whether a trial searches hyperparameters that are not in `hyperparameters`; otherwise such
  /// hyperparameters have their defaults.
  bool tune_new_entries = true;
  /// Whether a trial may ask for hyperparameters that are not in `hyperparameters`.
  bool allow_new_entries = true;
  static void describe(Schema<StudyOptions>& s);
};

/// A search: its trials, and the journal that records them.
class CRESCENT_API Study final : public Object {
 public:
  /// Opens the study of a journal, or begins a new one. `options` are those of StudyOptions. Fails
  /// if the journal has a study with other options; only max_trials and sync may differ.
  static std::shared_ptr<Study> open(const Dict& options);
  static const SchemaData& options_schema();
  ~Study() override;
  std::string class_name() const override { return "Study"; }
  static void describe_members(Schema<Study>& s);

  /// Returns the next trial: a trial whose process ended before it called tell(), else a new one.
  /// Waits for the results that the suggestion depends on and, at the end of the search, for the
  /// trials of other processes. Returns null when all trials have ended. Fails if the missing
  /// results are those of trials that this object itself has returned.
  TrialPtr ask();
  /// As ask(), but returns null instead of waiting. `ended` becomes true if all trials have ended.
  TrialPtr try_ask(bool* ended);
  /// Ends a trial of this process with a score; a pruned or failed trial may have none.
  void tell(Trial& trial, std::optional<double> score,
            TrialRecord::State state = TrialRecord::State::complete,
            const std::string& message = "");
  /// Reads what other processes have written into the journal since the last call.
  void update();

  const TrialHistory& history() const;
  const StudyOptions& options() const;
  /// The completed trials with a finite score, best first, at most `count` of them.
  std::vector<TrialRecord> best(int64_t count) const;
  /// A table of the best trials and their values.
  std::string table(int64_t count) const;
  /// The fraction of the variance of scores that each hyperparameter explains alone, from 0 to 1,
  /// greatest first.
  std::vector<std::pair<std::string, double>> importances() const;

 private:
  friend class Trial;
  struct State;
  explicit Study(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
using StudyPtr = std::shared_ptr<Study>;

}  // namespace crescent
