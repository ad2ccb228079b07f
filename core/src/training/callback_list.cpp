#include "training/callback_list.h"

#include <algorithm>

namespace crescent {
namespace {

/// {class_name, config}: who a state belongs to. Options that JSON cannot hold (functions) do not
/// count.
Dict identity(const Callback& callback) {
  const Dict options = callback.info() ? callback.get_config() : Dict();
  Dict config;
  for (const DictEntry& option : options)
    if (!option.value.is_object()) config.set(option.key, option.value);
  return {{"class_name", callback.class_name()}, {"config", std::move(config)}};
}

bool belongs_to(const Value& entry, const Dict& identity) {
  return entry.as_dict().at("class_name") == identity.at("class_name") &&
         to_json(entry.as_dict().at("config")) == to_json(identity.at("config"));
}

}  // namespace

CallbackList::CallbackList(const Value& callbacks, int64_t verbose) {
  if (verbose > 0) all_.push_back(make<Callback>("ProgbarLogger"));
  const List given = callbacks.is_null()   ? List()
                     : callbacks.is_list() ? callbacks.as_list()
                                           : List{callbacks};
  for (const Value& value : given) all_.push_back(get<Callback>(value));
  std::stable_partition(all_.begin(), all_.end(),
                        [](const CallbackPtr& c) { return !c->comes_last(); });
}

Value CallbackList::states() const {
  List states;
  for (const CallbackPtr& callback : all_) {
    Dict state = callback->get_state();
    if (state.empty()) continue;
    Dict entry = identity(*callback);
    entry.set("state", std::move(state));
    states.push_back(std::move(entry));
  }
  return states.empty() ? Value() : Value(std::move(states));
}

void CallbackList::set_states(const Value& states) const {
  if (!states.is_list()) return;
  List left = states.as_list();
  for (const CallbackPtr& callback : all_) {
    const Dict wanted = identity(*callback);
    const auto found = std::find_if(left.begin(), left.end(),
                                    [&](const Value& e) { return belongs_to(e, wanted); });
    if (found == left.end()) continue;
    callback->set_state(found->as_dict().at("state").as_dict());
    left.erase(found);
  }
  for (const Value& entry : left) {
    const std::string& name = entry.as_dict().at("class_name").as_string();
    if (std::any_of(all_.begin(), all_.end(),
                    [&](const CallbackPtr& c) { return c->class_name() == name; }))
      warn("fit: what ", name,
           " remembered in the loaded model is not used: its options are others now");
  }
}

int64_t verbosity(const Value& verbose) {
  if (verbose.is_bool()) return verbose.as_bool();
  if (verbose.is_string() && verbose.as_string() == "auto") return 1;
  if (!verbose.is_number()) fail("verbose: expected 0, 1, 2 or \"auto\", got ", verbose);
  return verbose.as_int();
}

}  // namespace crescent
