// Study: a search for good hyperparameters, trial by trial. Its trials are in a journal, which any
// number of processes share; a trial whose process was killed is given to the next one that asks.
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

/// Names of hyperparameters and their values, filled by who asks for them.
class CRESCENT_API HyperParameters : public Object {
 public:
  ~HyperParameters() override;
  std::string class_name() const override { return "HyperParameters"; }
  static void describe_members(Schema<HyperParameters>& s);

  /// The value of a hyperparameter, which is chosen when its name is new; null where its conditions
  /// do not hold. Scopes put their names before its name and add their conditions.
  Value suggest(Hyperparameter parameter);
  /// The value of this name; fails when there is none.
  Value get(const std::string& name) const;
  const Dict& values() const { return values_; }
  void set_value(const std::string& name, Value value) { values_.set(name, std::move(value)); }
  /// The definitions of the names that were asked for, in order.
  const std::vector<Hyperparameter>& space() const { return space_; }

  /// Until pop_scope, names begin with this one and "/".
  void push_name_scope(const std::string& name);
  /// Until pop_scope, hyperparameters exist where `parent` has one of these values; returns whether
  /// it has.
  bool push_condition(const std::string& parent, List values);
  void pop_scope();

 protected:
  /// The definition to use for one that was asked for.
  virtual Hyperparameter definition(Hyperparameter parameter) const { return parameter; }
  /// The value for a name that is new.
  virtual Value choose(const Hyperparameter& parameter) const;
  Dict values_;
  std::vector<Hyperparameter> space_;

 private:
  bool holds(const Condition& condition) const;
  std::vector<std::string> scopes_;  ///< names; empty for a condition
  std::vector<Condition> conditions_;
};

class Study;

/// A trial that this process runs. When it goes without having been told, another ask gets it.
class CRESCENT_API Trial final : public HyperParameters {
 public:
  Trial(std::shared_ptr<Study> study, int64_t number);
  ~Trial() override;
  std::string class_name() const override { return "Trial"; }
  static void describe_members(Schema<Trial>& s);

  int64_t number() const { return number_; }  ///< from 1
  /// A seed for what the trial draws, which follows from that of the study and its number.
  int64_t seed() const;
  const TrialRecord& record() const;
  /// Writes hyperparameters that were asked for into the journal, where oracles see them; tell and
  /// report do that too.
  void save_values();
  /// Notes how good it is after so many steps. A step that was reported already keeps its value: a
  /// trial that goes on after a cut may come to it again.
  void report(double value, int64_t step);
  /// Whether it is worse than earlier trials were at its last reported step, by the rule of the
  /// study's pruner.
  bool should_prune() const;
  void set_attribute(const std::string& name, Value value);
  /// Lets the trial go without an end; the next ask, of any process, gets it.
  void release();
  Study& study() const { return *study_; }

 protected:
  Hyperparameter definition(Hyperparameter parameter) const override;
  Value choose(const Hyperparameter& parameter) const override;

 private:
  friend class Study;
  std::shared_ptr<Study> study_;
  int64_t number_;
  size_t saved_ = 0;   ///< how many of the values are in the journal
  int64_t step_ = -1;  ///< the last one that was reported here
};
using TrialPtr = std::shared_ptr<Trial>;

/// The options of a study.
struct CRESCENT_API StudyOptions {
  Ref<Oracle> oracle = "random";
  std::string direction = "minimize";
  std::optional<int64_t> max_trials, seed;
  int64_t lag = 8;
  Value pruner;
  std::string journal;
  bool sync = false;
  std::shared_ptr<HyperParameters> hyperparameters;
  bool tune_new_entries = true, allow_new_entries = true;
  static void describe(Schema<StudyOptions>& s);
};

class CRESCENT_API Study final : public Object {
 public:
  /// Opens the study of a journal, or begins it, with options of StudyOptions. What the journal
  /// says otherwise is an error, but for max_trials.
  static std::shared_ptr<Study> open(const Dict& options);
  static const SchemaData& options_schema();
  ~Study() override;
  std::string class_name() const override { return "Study"; }
  static void describe_members(Schema<Study>& s);

  /// The next trial: one whose process ended before it told, else a new one. Waits for the results
  /// that the suggestion counts on, and at the end for the trials of other processes. Null when all
  /// trials have ended. Fails when only trials of this object could bring these results.
  TrialPtr ask();
  /// As ask(), but null also where it would wait; `ended` says whether all trials have ended.
  TrialPtr try_ask(bool* ended);
  /// Ends a trial of this process with a score, or without one as failed.
  void tell(Trial& trial, std::optional<double> score,
            TrialRecord::State state = TrialRecord::State::complete,
            const std::string& message = "");
  /// Reads what other processes wrote since.
  void update();

  const TrialHistory& history() const;
  const StudyOptions& options() const;
  /// The trials with a score, best first; at most `count` of them.
  std::vector<TrialRecord> best(int64_t count) const;
  /// A table of the best trials and their values.
  std::string table(int64_t count) const;
  /// How much of the spread of scores each hyperparameter explains alone, from 0 to 1, greatest
  /// first.
  std::vector<std::pair<std::string, double>> importances() const;

 private:
  friend class Trial;
  struct State;
  explicit Study(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
using StudyPtr = std::shared_ptr<Study>;

}  // namespace crescent
