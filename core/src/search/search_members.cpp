// Declares the methods and properties that hyperparameters, trials and studies have in Lua. Their
// names are those of KerasTuner and of Optuna.
#include <utility>

#include "crescent/search/study.h"
#include "search/study_records.h"

namespace crescent {
namespace {

using ParentName = std::optional<std::string>;

/// Suggests a value for the hyperparameter. If `parent_name` is given, the hyperparameter exists
/// only where `parent_name` has one of the values.
Value ask_for(HyperParameters& hp, Hyperparameter parameter, const ParentName& parent_name,
              Value values) {
  if (parent_name) {
    if (values.is_null()) fail(parameter.name, ": parent_name needs parent_values");
    List list = values.is_list() ? std::move(values.as_list()) : List{std::move(values)};
    parameter.conditions.push_back({*parent_name, std::move(list)});
  }
  return hp.suggest(std::move(parameter));
}

Value ask_int(HyperParameters& hp, const std::string& name, int64_t low, int64_t high,
              std::optional<double> step, const std::string& sampling,
              std::optional<int64_t> default_value, ParentName parent_name, Value values) {
  const Value default_or_null = default_value ? Value(*default_value) : Value();
  return ask_for(
      hp,
      Hyperparameter::integer(name, low, high,
                              {step.value_or(0), sampling_named(sampling), default_or_null}),
      parent_name, std::move(values));
}

Value ask_float(HyperParameters& hp, const std::string& name, double low, double high,
                std::optional<double> step, const std::string& sampling,
                std::optional<double> default_value, ParentName parent_name, Value values) {
  const Value default_or_null = default_value ? Value(*default_value) : Value();
  return ask_for(
      hp,
      Hyperparameter::real(name, low, high,
                           {step.value_or(0), sampling_named(sampling), default_or_null}),
      parent_name, std::move(values));
}

Value ask_choice(HyperParameters& hp, const std::string& name, const std::vector<Value>& choices,
                 std::optional<bool> ordered, Value default_value, ParentName parent_name,
                 Value values) {
  return ask_for(hp, Hyperparameter::choice(name, choices, ordered, std::move(default_value)),
                 parent_name, std::move(values));
}

Value ask_boolean(HyperParameters& hp, const std::string& name, bool default_value,
                  ParentName parent_name, Value values) {
  return ask_for(hp, Hyperparameter::boolean(name, default_value), parent_name, std::move(values));
}

Value ask_fixed(HyperParameters& hp, const std::string& name, Value value, ParentName parent_name,
                Value values) {
  return ask_for(hp, Hyperparameter::fixed(name, std::move(value)), parent_name, std::move(values));
}

const char* sampling_of(bool log) { return log ? "log" : "linear"; }

Value suggest_float(HyperParameters& hp, const std::string& name, double low, double high,
                    std::optional<double> step, bool log) {
  return ask_float(hp, name, low, high, step, sampling_of(log), {}, {}, {});
}

Value suggest_int(HyperParameters& hp, const std::string& name, int64_t low, int64_t high,
                  std::optional<double> step, bool log) {
  return ask_int(hp, name, low, high, step, sampling_of(log), {}, {}, {});
}

Value suggest_categorical(HyperParameters& hp, const std::string& name,
                          const std::vector<Value>& choices) {
  return hp.suggest(Hyperparameter::choice(name, choices));
}

/// The definitions of hyperparameters as tables; the entry "text" describes the definition.
List described_space(const std::vector<Hyperparameter>& space) {
  List rows;
  for (const Hyperparameter& p : space) {
    Dict row = p.to_dict();
    row.set("text", p.text());
    rows.push_back(std::move(row));
  }
  return rows;
}

List space_of(const HyperParameters& hp) { return described_space(hp.space()); }

Dict values_of(const HyperParameters& hp) { return hp.values(); }

void describe_parent(Schema<HyperParameters>& s) {
  s.arg("parent_name", "Exists where this hyperparameter ...", Value())
      .arg("parent_values", "... has one of these values; else nil.", Value());
}

// ---- trials and studies

List list_of_reports(const TrialRecord& trial) {
  List reports;
  for (const auto& [step, value] : trial.reports)
    reports.push_back(Dict{{"step", step}, {"value", value}});
  return reports;
}

List reports_of(const Trial& trial) { return list_of_reports(trial.record()); }

Dict to_dict(const TrialRecord& trial) {
  Dict row{{"number", trial.number},         {"state", name_of(trial.state)},
           {"values", trial.values},         {"reports", list_of_reports(trial)},
           {"attributes", trial.attributes}, {"seconds", trial.seconds}};
  if (trial.score) row.set("score", *trial.score);
  if (!trial.message.empty()) row.set("message", trial.message);
  return row;
}

List all_trials(const Study& study) {
  List rows;
  for (int64_t i = 1; i <= study.history().size(); ++i)
    if (study.history().at(i).state != TrialRecord::State::unasked)
      rows.push_back(to_dict(study.history().at(i)));
  return rows;
}

List best_trials(const Study& study, int64_t count) {
  List rows;
  for (const TrialRecord& trial : study.best(count)) rows.push_back(to_dict(trial));
  return rows;
}

TrialRecord best_record(const Study& study) {
  const std::vector<TrialRecord> best = study.best(1);
  if (best.empty()) fail("no trial of the study has a score yet");
  return best.front();
}

Dict best_trial(const Study& study) { return to_dict(best_record(study)); }
double best_value(const Study& study) { return *best_record(study).score; }
Dict best_params(const Study& study) { return best_record(study).values; }

const TrialRecord& existing_trial(const Study& study, int64_t number) {
  const TrialRecord& trial = study.history().at(number);
  if (trial.state == TrialRecord::State::unasked)
    fail("there is no trial ", number, "; the study has ", study.history().size());
  return trial;
}

Dict trial_of(const Study& study, int64_t number) { return to_dict(existing_trial(study, number)); }

std::shared_ptr<HyperParameters> hyperparameters_of(const Study& study, int64_t number) {
  const TrialRecord& trial = existing_trial(study, number);
  auto hp = std::make_shared<HyperParameters>();
  for (const DictEntry& entry : trial.suggested)
    if (entry.key.starts_with("tuner/")) hp->set_value(entry.key, entry.value);
  for (const DictEntry& entry : trial.values) hp->set_value(entry.key, entry.value);
  return hp;
}

List known_space(const Study& study) { return described_space(study.history().parameters()); }

Dict importances_of(const Study& study) {
  Dict importances;
  for (const auto& [name, share] : study.importances()) importances.set(name, share);
  return importances;
}

void tell_of(Study& study, const std::shared_ptr<Trial>& trial, std::optional<double> score,
             const std::string& state, const std::string& message) {
  if (!trial) fail("expected a trial, as ask() gives them");
  study.tell(*trial, score, end_state_named(state), message);
}

}  // namespace

void HyperParameters::describe_members(Schema<HyperParameters>& s) {
  s.method("Int", ask_int, "An integer between two bounds, both included.")
      .arg("name", "What it is called.")
      .arg("min_value", "The least value.")
      .arg("max_value", "The greatest value.")
      .arg("step", "Between values; with logarithmic sampling a factor.", Value())
      .arg("sampling", "How values are spread: linear, log, reverse_log.", "linear")
      .arg("default", "The value outside of a search; the least one when not given.", Value());
  describe_parent(s);
  s.method("Float", ask_float, "A number between two bounds, both included.")
      .arg("name", "What it is called.")
      .arg("min_value", "The least value.")
      .arg("max_value", "The greatest value.")
      .arg("step", "Between values; with logarithmic sampling a factor.", Value())
      .arg("sampling", "How values are spread: linear, log, reverse_log.", "linear")
      .arg("default", "The value outside of a search; the least one when not given.", Value());
  describe_parent(s);
  s.method("Choice", ask_choice, "One of some values.")
      .arg("name", "What it is called.")
      .arg("values", "Numbers, texts or booleans.")
      .arg("ordered", "Whether neighbours are alike; for numbers when not given.", Value())
      .arg("default", "The value outside of a search; the first one when not given.", Value());
  describe_parent(s);
  s.method("Boolean", ask_boolean, "true or false.")
      .arg("name", "What it is called.")
      .arg("default", "The value outside of a search.", false);
  describe_parent(s);
  s.method("Fixed", ask_fixed, "A value that is not searched, and is noted with the others.")
      .arg("name", "What it is called.")
      .arg("value", "A number, a text or a boolean.");
  describe_parent(s);
  s.method("suggest_float", suggest_float, "Float with Optuna's name.")
      .arg("name", "What it is called.")
      .arg("low", "The least value.")
      .arg("high", "The greatest value.")
      .arg("step", "Between values.", Value())
      .arg("log", "Whether values are spread evenly in their logarithm.", false)
      .method("suggest_int", suggest_int, "Int with Optuna's name.")
      .arg("name", "What it is called.")
      .arg("low", "The least value.")
      .arg("high", "The greatest value.")
      .arg("step", "Between values.", Value())
      .arg("log", "Whether values are spread evenly in their logarithm.", false)
      .method("suggest_categorical", suggest_categorical, "Choice with Optuna's name.")
      .arg("name", "What it is called.")
      .arg("choices", "Numbers, texts or booleans.")
      .method("get", &HyperParameters::get, "The value of a name that was asked for.")
      .arg("name", "What it is called.")
      .property("values", values_of, "The values by name.")
      .property("space", space_of, "What was asked for, as tables, in order.");
}

void Trial::describe_members(Schema<Trial>& s) {
  s.property("number", &Trial::number, "Of the trial in its study, from 1.")
      .property("seed", &Trial::seed, "For what it draws: it follows from that of the study.")
      .method("report", &Trial::report, "Notes how good it is after so many steps.")
      .arg("value", "The score so far.")
      .arg("step", "The number of the step.")
      .method("should_prune", &Trial::should_prune,
              "Whether earlier trials were mostly better at this step, by the study's pruner.")
      .property("reports", reports_of, "What it reported: tables with step and value.")
      .property(
          "user_attrs", [](const Trial& trial) { return trial.record().attributes; },
          "What was noted with it.")
      .method("save_values", &Trial::save_values,
              "Lets the study know what was asked for; report and tell do it too.")
      .method("release", &Trial::release, "Lets it go without an end; the next ask gets it again.")
      .method("set_user_attr", &Trial::set_attribute, "Notes a value with the trial.")
      .arg("key", "What it is called.")
      .arg("value", "A number, a text, a boolean, or tables of them.");
}

void Study::describe_members(Schema<Study>& s) {
  s.method("tell", tell_of, "Ends a trial that ask gave.")
      .arg("trial", "The trial.")
      .arg("value", "Its score; nil for one that is pruned or failed.", Value())
      .arg("state", "complete, pruned or failed.", "complete")
      .arg("message", "Why it failed.", "")
      .method("update", &Study::update, "Reads what other processes told since.")
      .method("best", best_trials, "The trials with the best scores.")
      .arg("count", "How many.", 1)
      .method("trial", trial_of, "What is known of a trial, as a table.")
      .arg("number", "Of the trial, from 1.")
      .method("hyperparameters", hyperparameters_of, "The hyperparameters of a trial.")
      .arg("number", "Of the trial, from 1.")
      .method("importances", importances_of,
              "The share of the spread of scores that each hyperparameter explains alone.")
      .method("table", &Study::table, "The best trials as a text.")
      .arg("count", "How many.", 10)
      .property("trials", all_trials, "All trials as tables.")
      .property("space", known_space, "The hyperparameters that trials had, as tables.")
      .property(
          "direction", [](const Study& study) { return study.options().direction; },
          "minimize or maximize.")
      .property("best_trial", best_trial, "The one with the best score.")
      .property("best_value", best_value, "The best score.")
      .property("best_params", best_params, "The values of the best trial.");
}

}  // namespace crescent
