// Hyperparameters that suggest values by name, and trials with their values.
#include <algorithm>

#include "search/study_records.h"
#include "search/study_state.h"

namespace crescent {

HyperParameters::~HyperParameters() = default;

Value HyperParameters::choose(const Hyperparameter& parameter) const {
  return parameter.default_value;
}

bool HyperParameters::holds(const Condition& condition) const {
  const Value* value = values_.find(condition.parent);
  return value && std::find(condition.values.begin(), condition.values.end(), *value) !=
                      condition.values.end();
}

Value HyperParameters::suggest(Hyperparameter parameter) {
  std::string prefix;
  for (const std::string& name : scopes_)
    if (!name.empty()) prefix += name + "/";
  parameter.name = prefix + parameter.name;
  parameter.conditions.insert(parameter.conditions.begin(), conditions_.begin(), conditions_.end());
  for (const Condition& condition : parameter.conditions)
    if (!holds(condition)) return {};
  if (const Value* value = values_.find(parameter.name);
      value && std::any_of(space_.begin(), space_.end(), [&](const Hyperparameter& candidate) {
        return candidate.name == parameter.name;
      }))
    return *value;
  parameter = definition(std::move(parameter));
  if (!values_.contains(parameter.name)) values_.set(parameter.name, choose(parameter));
  space_.push_back(std::move(parameter));
  return values_.at(space_.back().name);
}

Value HyperParameters::get(const std::string& name) const {
  if (const Value* value = values_.find(name)) return *value;
  const std::vector<std::string> names = values_.keys();
  fail("there is no hyperparameter '", name, "'", did_you_mean(name, names), "; there ",
       names.empty() ? "are none" : "are ", join(names));
}

void HyperParameters::push_name_scope(const std::string& name) {
  if (name.empty()) fail("a scope needs a name");
  scopes_.push_back(name);
}

bool HyperParameters::push_condition(const std::string& parent, List values) {
  if (!values_.contains(parent)) get(parent);
  scopes_.emplace_back();
  conditions_.push_back({parent, std::move(values)});
  return holds(conditions_.back());
}

void HyperParameters::pop_scope() {
  if (scopes_.empty()) fail("no scope was opened");
  if (scopes_.back().empty()) conditions_.pop_back();
  scopes_.pop_back();
}

Trial::Trial(std::shared_ptr<Study> study, int64_t number)
    : study_(std::move(study)), number_(number) {
  const TrialRecord& trial_record = record();
  for (const DictEntry& entry : trial_record.suggested)
    if (entry.key.starts_with("tuner/")) values_.set(entry.key, entry.value);
  for (const size_t i : trial_record.parameters) {
    space_.push_back(study_->history().parameters()[i]);
    values_.set(space_.back().name, trial_record.values.at(space_.back().name));
  }
  saved_ = space_.size();
}

Trial::~Trial() { release(); }

void Trial::release() {
  Study::State& state = *study_->state_;
  if (state.own_trials.erase(number_)) state.journal.release(number_);
}

const TrialRecord& Trial::record() const { return study_->history().at(number_); }

int64_t Trial::seed() const {
  return static_cast<int64_t>(draw(study_->history().seed, number_, "seed of the trial") * 0x1p31);
}

Hyperparameter Trial::definition(Hyperparameter parameter) const {
  const StudyOptions& options = study_->state_->options;
  if (!options.hyperparameters) return parameter;
  std::vector<std::string> names;
  for (const Hyperparameter& candidate : options.hyperparameters->space()) {
    if (candidate.name == parameter.name) {
      std::vector<Condition> conditions = std::move(parameter.conditions);
      parameter = candidate;
      parameter.conditions = std::move(conditions);
      return parameter;
    }
    names.push_back(candidate.name);
  }
  if (!options.allow_new_entries)
    fail("the hyperparameter '", parameter.name, "' is not among those of the search, ",
         join(names), ", which allow_new_entries = false keeps as they are");
  if (options.tune_new_entries) return parameter;
  Hyperparameter constant = Hyperparameter::fixed(parameter.name, parameter.default_value);
  constant.conditions = std::move(parameter.conditions);
  return constant;
}

Value Trial::choose(const Hyperparameter& parameter) const {
  const TrialRecord& trial = record();
  const std::string key = parameter.key();
  if (const Value* value = trial.suggested.find(key); value && parameter.has(*value)) return *value;
  if (trial.rest == "first") return parameter.grid_value(0);
  return parameter.at(draw(study_->history().seed, number_, key));
}

void Trial::save_values() {
  if (saved_ == space_.size()) return;
  Study::State& state = *study_->state_;
  const Journal::Lock lock(state.journal);
  state.read();
  std::vector<size_t> indices;
  List values;
  for (size_t i = saved_; i < space_.size(); ++i) {
    const size_t known_count = state.history.parameters().size();
    indices.push_back(state.history.index_of(space_[i]));
    values.push_back(values_.at(space_[i].name));
    if (indices.back() == known_count)
      state.journal.append(Dict{{"parameter", space_[i].to_dict()}});
  }
  state.write(values_record(number_, indices, values));
  saved_ = space_.size();
}

void Trial::report(double value, int64_t step) {
  if (step < 0) fail("report: expected a step from 0 on, got ", step);
  save_values();
  step_ = step;
  for (const auto& [reported_step, reported_value] : record().reports)
    if (reported_step == step) return;
  Study::State& state = *study_->state_;
  const Journal::Lock lock(state.journal);
  state.read();
  state.write({{"report", number_}, {"step", step}, {"value", value}});
}

bool Trial::should_prune() const {
  const Study::State& state = *study_->state_;
  return state.pruner && state.pruner->should_prune(state.history, record(), step_);
}

void Trial::set_attribute(const std::string& name, Value value) {
  Study::State& state = *study_->state_;
  const Journal::Lock lock(state.journal);
  state.read();
  state.write({{"attribute", number_}, {"name", name}, {"value", std::move(value)}});
}

}  // namespace crescent
