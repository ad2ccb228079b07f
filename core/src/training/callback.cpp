#include "crescent/model/callback.h"

#include "crescent/model/model.h"

namespace crescent {

ModelRef::ModelRef(Model* model) {
  if (model) model_ = std::static_pointer_cast<Model>(model->weak_from_this().lock());
}

std::shared_ptr<Model> ModelRef::get() const {
  if (auto model = model_.lock()) return model;
  fail("the model of this callback is gone, or no run has begun");
}

Callback::~Callback() = default;
History::~History() = default;

const std::vector<std::pair<std::string, double>>& Logs::values() const {
  if (fetch_ && !fetched_) {
    auto fetched_values = fetch_();
    fetched_values.insert(fetched_values.end(), values_.begin(), values_.end());
    values_ = std::move(fetched_values);
    fetched_ = true;
  }
  return values_;
}

bool Logs::contains(std::string_view name) const {
  for (const auto& entry : values())
    if (entry.first == name) return true;
  return false;
}

double Logs::at(std::string_view name) const {
  for (const auto& entry : values())
    if (entry.first == name) return entry.second;
  const std::vector<std::string> log_names = names();
  fail("the logs have no '", name, "'", did_you_mean(name, log_names),
       "; they have: ", join(log_names));
}

void Logs::set(const std::string& name, double value) {
  values();
  for (auto& entry : values_)
    if (entry.first == name) return void(entry.second = value);
  values_.emplace_back(name, value);
}

std::vector<std::string> Logs::names() const {
  std::vector<std::string> names;
  for (const auto& entry : values()) names.push_back(entry.first);
  return names;
}

void History::on_train_begin(const Logs&) {
  epoch_.clear();
  history_.clear();
}

void History::on_epoch_end(int64_t epoch, Logs& logs) {
  epoch_.push_back(epoch);
  for (const auto& [name, value] : logs.values()) {
    std::vector<double>* series = nullptr;
    for (auto& entry : history_)
      if (entry.first == name) series = &entry.second;
    if (!series) series = &history_.emplace_back(name, std::vector<double>()).second;
    series->push_back(value);
  }
}

Dict History::record() const {
  List series;
  for (const auto& [name, values] : history_) series.push_back(List{name, values});
  return {{"epochs", epoch_}, {"series", std::move(series)}};
}

void History::set_record(const Dict& record) {
  on_train_begin({});
  for (const Value& epoch : record.at("epochs").as_list()) epoch_.push_back(epoch.as_int());
  for (const Value& entry : record.at("series").as_list()) {
    const List& pair = entry.as_list();
    std::vector<double>& values =
        history_.emplace_back(pair.at(0).as_string(), std::vector<double>()).second;
    for (const Value& value : pair.at(1).as_list()) values.push_back(value.as_float());
  }
}

const std::vector<double>& History::at(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& entry : history_) {
    if (entry.first == name) return entry.second;
    names.push_back(entry.first);
  }
  fail("the history has no '", name, "'", did_you_mean(name, names), "; it has: ", join(names));
}

}  // namespace crescent
