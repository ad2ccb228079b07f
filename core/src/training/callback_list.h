// The callbacks of a run. They are called in the order of Keras, except that callbacks that save
// the model are called after the others, and the callback that saves the run is called last.
#pragma once
#include <functional>

#include "crescent/model/model.h"
#include "crescent/program/division.h"
#include "registry/blame.h"

namespace crescent {

/// The class of the callback that saves the run with the states of all callbacks.
inline constexpr const char* kRunSaverClass = "BackupAndRestore";

class CallbackList {
 public:
  /// `callbacks` is a callback, a list of callbacks or null. If `verbose` is not 0, a progress bar
  /// is the first callback.
  CallbackList(const Value& callbacks, int64_t verbose);
  const std::vector<CallbackPtr>& all() const { return *callbacks_; }
  /// Inserts the callback after the others, but before callbacks for which comes_last() is true.
  void add(CallbackPtr callback);
  /// Removes the callback; returns false if it is not in the list.
  bool remove(const CallbackPtr& callback);
  /// The states of the callbacks that have one, as a list of {class_name, config, state}.
  Value states() const;
  /// Passes each state to the callback with the same class and options, if there is one.
  void set_states(const Value& states) const;
  void attach(Model* model, const Dict& params) {
    for (const CallbackPtr& callback : *callbacks_) callback->attach_run(model, params);
  }
  /// Calls the hook of every callback that is in the list at the start; hooks may change the list.
  template <class... Parameters, class... Arguments>
  void call_hooks(void (Callback::*hook)(Parameters...), Arguments&&... arguments) const {
    const auto current_callbacks = callbacks_;
    for (const CallbackPtr& callback : *current_callbacks) {
      const auto call = [&] { (callback.get()->*hook)(arguments...); };
      layouts().empty() ? blaming(*callback, call) : call_in_distributed_process(*callback, call);
    }
  }

 private:
  void set_ordered(std::vector<CallbackPtr> callbacks);
  /// Calls a hook while weights may be divided among processes. All processes must take part in
  /// reading such a weight. If writes_for_all() is true for the callback, only one process calls
  /// the hook, so the hook fails if it reads such a weight.
  static void call_in_distributed_process(Callback& callback, const std::function<void()>& hook);

  std::shared_ptr<const std::vector<CallbackPtr>> callbacks_;
};

/// Decodes the option verbose: "auto" is 1; booleans are accepted.
int64_t verbosity(const Value& verbose);

/// Fails unless the value is null or a list of {class_name, config, state}.
void check_callback_states(const Value& states);

}  // namespace crescent
