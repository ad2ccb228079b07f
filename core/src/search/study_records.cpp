#include "search/study_records.h"

#include <algorithm>

namespace crescent {
namespace {

void apply_ask(TrialHistory& history, const Dict& record) {
  TrialRecord& trial = history.record(record.at("ask").as_int());
  trial.state = TrialRecord::State::running;
  trial.suggested = record.at("suggested").as_dict();
  trial.rest = record.at("rest").as_string();
}

void apply_values(TrialHistory& history, const Dict& record) {
  TrialRecord& trial = history.record(record.at("values").as_int());
  const List &parameter_list = record.at("of").as_list(), &value_list = record.at("are").as_list();
  for (size_t i = 0; i < parameter_list.size(); ++i) {
    const auto index = static_cast<size_t>(parameter_list[i].as_int());
    trial.parameters.push_back(index);
    trial.values.set(history.parameters().at(index).name, value_list.at(i));
  }
}

void apply_tell(TrialHistory& history, const Dict& record) {
  TrialRecord& trial = history.record(record.at("tell").as_int());
  trial.state = end_state_named(record.at("state").as_string());
  trial.seconds = record.at("seconds").as_float();
  if (const Value* score = record.find("score")) trial.score = score->as_float();
  if (const Value* message = record.find("message")) trial.message = message->as_string();
  history.note_end();
}

}  // namespace

Dict ask_record(int64_t number, const Suggestion& suggestion) {
  const char* rest_text = suggestion.rest == Suggestion::Rest::first ? "first" : "drawn";
  return {{"ask", number}, {"suggested", suggestion.values}, {"rest", rest_text}};
}

Dict values_record(int64_t number, const std::vector<size_t>& parameters, const List& values) {
  return {{"values", number}, {"of", parameters}, {"are", values}};
}

Dict tell_record(const TrialRecord& ended_trial) {
  Dict record{{"tell", ended_trial.number}, {"state", name_of(ended_trial.state)}};
  if (ended_trial.score) record.set("score", *ended_trial.score);
  record.set("seconds", ended_trial.seconds);
  if (!ended_trial.message.empty()) record.set("message", ended_trial.message);
  return record;
}

TrialRecord::State end_state_named(const std::string& name) {
  using State = TrialRecord::State;
  for (const State state : {State::complete, State::pruned, State::failed})
    if (name == name_of(state)) return state;
  fail("state: expected complete, pruned or failed, got '", name, "'");
}

void apply_record(TrialHistory& history, const Dict& record) {
  const std::string kind = record.empty() ? "" : record.begin()->key;
  if (kind == "ask") return apply_ask(history, record);
  if (kind == "values") return apply_values(history, record);
  if (kind == "tell") return apply_tell(history, record);
  if (kind == "parameter") {
    history.index_of(Hyperparameter::from_dict(record.at("parameter").as_dict()));
  } else if (kind == "report") {
    history.record(record.at("report").as_int())
        .reports.emplace_back(record.at("step").as_int(), record.at("value").as_float());
  } else if (kind == "attribute") {
    history.record(record.at("attribute").as_int())
        .attributes.set(record.at("name").as_string(), record.at("value"));
  } else {
    fail("a record of the unknown kind '", kind, "'");
  }
}

}  // namespace crescent
