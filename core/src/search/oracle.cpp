#include "crescent/search/oracle.h"

#include <cmath>

#include "crescent/ops/random.h"

namespace crescent {

Oracle::~Oracle() = default;

const char* name_of(TrialRecord::State state) {
  constexpr const char* kNames[] = {"unasked", "running", "complete", "pruned", "failed"};
  return kNames[static_cast<int>(state)];
}

bool TrialRecord::has_score() const { return score && std::isfinite(*score); }

TrialHistory::TrialHistory() = default;
TrialHistory::~TrialHistory() = default;
TrialHistory::TrialHistory(TrialHistory&&) noexcept = default;
TrialHistory& TrialHistory::operator=(TrialHistory&&) noexcept = default;

const TrialRecord& TrialHistory::at(int64_t number) const {
  static const TrialRecord empty_record;
  return number >= 1 && number <= size() ? trials_[static_cast<size_t>(number - 1)] : empty_record;
}

TrialRecord& TrialHistory::record(int64_t number) {
  while (size() < number) {
    trials_.emplace_back();
    trials_.back().number = size();
  }
  return trials_[static_cast<size_t>(number - 1)];
}

size_t TrialHistory::index_of(const Hyperparameter& parameter) {
  const std::string key = parameter.key();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].key() != key) continue;
    if (parameters_[i] == parameter) return i;
    fail("the hyperparameter '", key, "' of this study is ", parameters_[i].text(), " (default ",
         parameters_[i].default_value, "), not ", parameter.text(), " (default ",
         parameter.default_value, "); other values need another study");
  }
  parameters_.push_back(parameter);
  return parameters_.size() - 1;
}

const Hyperparameter* TrialHistory::find(std::string_view key) const {
  for (const Hyperparameter& parameter : parameters_)
    if (parameter.key() == key) return &parameter;
  return nullptr;
}

void TrialHistory::note_end() {
  while (at(ended_through_ + 1).ended()) ++ended_through_;
}

Dict TrialHistory::values_by_key(const TrialRecord& trial) const {
  Dict values;
  for (const size_t i : trial.parameters)
    if (const Value* value = trial.values.find(parameters_[i].name))
      values.set(parameters_[i].key(), *value);
  return values;
}

double draw(uint64_t seed, int64_t number, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;  // the FNV-1a hash of the name
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  const PhiloxBlock block = philox(seed, static_cast<uint64_t>(number), hash);
  const uint64_t bits = (uint64_t{block.word[0]} << 32 | block.word[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace crescent
