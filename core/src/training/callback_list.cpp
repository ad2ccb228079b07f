#include "training/callback_list.h"

#include <algorithm>

#include "crescent/program/distribution.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

/// The class name and the configuration of a callback. A saved state belongs to the callback for
/// which they are equal. Options that JSON cannot represent (functions) are omitted.
Dict identity(const Callback& callback) {
  const Dict options = callback.info() ? callback.get_config() : Dict();
  Dict config;
  for (const DictEntry& option : options)
    if (!option.value.is_object()) config.set(option.key, option.value);
  return {{"class_name", callback.class_name()}, {"config", std::move(config)}};
}

bool belongs_to(const Value& entry, const Dict& callback_identity) {
  return entry.as_dict().at("class_name") == callback_identity.at("class_name") &&
         to_json(entry.as_dict().at("config")) == to_json(callback_identity.at("config"));
}

}  // namespace

CallbackList::CallbackList(const Value& callbacks, int64_t verbose) {
  std::vector<CallbackPtr> callback_list;
  const bool is_reporting = is_reporting_process();
  if (verbose > 0 && is_reporting) callback_list.push_back(make<Callback>("ProgbarLogger"));
  const List callback_values = callbacks.is_null()   ? List()
                               : callbacks.is_list() ? callbacks.as_list()
                                                     : List{callbacks};
  for (const Value& value : callback_values)
    if (CallbackPtr callback = get<Callback>(value); is_reporting || !callback->writes_for_all())
      callback_list.push_back(std::move(callback));
  set_ordered(std::move(callback_list));
}

void CallbackList::call_in_distributed_process(Callback& callback,
                                               const std::function<void()>& hook) {
  const NoCollectives no_collectives(callback.writes_for_all() ? callback.class_name() : "");
  blaming(callback, hook);
}

/// Moves callbacks that save the model, such as ModelCheckpoint, after the others, and the callback
/// that saves the run to the end. Its hooks are called last, so its file contains the states that
/// all other callbacks have after their hooks.
void CallbackList::set_ordered(std::vector<CallbackPtr> callbacks) {
  const auto savers_begin = std::stable_partition(
      callbacks.begin(), callbacks.end(), [](const CallbackPtr& c) { return !c->comes_last(); });
  std::stable_partition(savers_begin, callbacks.end(),
                        [](const CallbackPtr& c) { return c->class_name() != kRunSaverClass; });
  callbacks_ = std::make_shared<const std::vector<CallbackPtr>>(std::move(callbacks));
}

void CallbackList::add(CallbackPtr callback) {
  std::vector<CallbackPtr> callback_list = *callbacks_;
  callback_list.push_back(std::move(callback));
  set_ordered(std::move(callback_list));
}

bool CallbackList::remove(const CallbackPtr& callback) {
  std::vector<CallbackPtr> callback_list = *callbacks_;
  if (std::erase(callback_list, callback) == 0) return false;
  set_ordered(std::move(callback_list));
  return true;
}

Value CallbackList::states() const {
  List states;
  for (const CallbackPtr& callback : *callbacks_) {
    Dict state = blaming(*callback, [&] { return callback->get_state(); });
    if (state.empty()) continue;
    Dict entry = identity(*callback);
    entry.set("state", std::move(state));
    states.push_back(std::move(entry));
  }
  return states.empty() ? Value() : Value(std::move(states));
}

void CallbackList::set_states(const Value& states) const {
  if (!states.is_list()) return;
  List remaining_states = states.as_list();
  for (const CallbackPtr& callback : *callbacks_) {
    const Dict callback_identity = identity(*callback);
    const auto saved_state =
        std::find_if(remaining_states.begin(), remaining_states.end(),
                     [&](const Value& state) { return belongs_to(state, callback_identity); });
    if (saved_state == remaining_states.end()) continue;
    blaming(*callback, [&] { callback->set_state(saved_state->as_dict().at("state").as_dict()); });
    remaining_states.erase(saved_state);
  }
  for (const Value& entry : remaining_states) {
    const std::string& name = entry.as_dict().at("class_name").as_string();
    if (std::any_of(callbacks_->begin(), callbacks_->end(),
                    [&](const CallbackPtr& c) { return c->class_name() == name; }))
      warn("fit: what ", name,
           " remembered in the loaded model is not used: its options are others now");
  }
}

void check_callback_states(const Value& states) {
  auto is_entry = [](const Value& entry) {
    auto has_member = [&](const char* name, bool (Value::*is_kind)() const) {
      const Value* member = entry.is_dict() ? entry.as_dict().find(name) : nullptr;
      return member && (member->*is_kind)();
    };
    return has_member("class_name", &Value::is_string) && has_member("config", &Value::is_dict) &&
           has_member("state", &Value::is_dict);
  };
  if (states.is_null()) return;
  if (!states.is_list() || !std::all_of(states.as_list().begin(), states.as_list().end(), is_entry))
    fail("callback states: expected a list of {class_name, config, state}, got ", states);
}

int64_t verbosity(const Value& verbose) {
  if (verbose.is_bool()) return verbose.as_bool();
  if (verbose.is_string() && verbose.as_string() == "auto") return 1;
  if (!verbose.is_number()) fail("verbose: expected 0, 1, 2 or \"auto\", got ", verbose);
  return verbose.as_int();
}

}  // namespace crescent
