// The callbacks of a run, called in Keras' order; callbacks that save the model are called last,
// and of these, the one that saves the run.
#pragma once
#include <functional>

#include "crescent/model/model.h"
#include "crescent/program/division.h"
#include "registry/blame.h"

namespace crescent {

/// The callback that saves the run, with the states of all callbacks.
inline constexpr const char* kRunSaver = "BackupAndRestore";

class CallbackList {
 public:
  /// Takes the user's callbacks (one, a list or none) and puts the progress bar first if `verbose`
  /// asks for one.
  CallbackList(const Value& callbacks, int64_t verbose);
  const std::vector<CallbackPtr>& all() const { return *callbacks_; }
  /// Inserts the callback after the others, but before callbacks for which comes_last() is true.
  void add(CallbackPtr callback);
  /// Removes the callback; returns false if it is not in the list.
  bool remove(const CallbackPtr& callback);
  /// The states of the callbacks that have one, as a list of {class_name, config, state}.
  Value states() const;
  /// Passes each state to the callback of the same class and options, if there is one.
  void set_states(const Value& states) const;
  void attach(Model* model, const Dict& params) {
    for (const CallbackPtr& callback : *callbacks_) callback->attach_run(model, params);
  }
  /// Calls the hook of every callback that is in the list at the start; hooks may change the list.
  template <class... Parameters, class... Arguments>
  void each(void (Callback::*hook)(Parameters...), Arguments&&... arguments) const {
    const auto current_callbacks = callbacks_;
    for (const CallbackPtr& callback : *current_callbacks) {
      const auto call = [&] { (callback.get()->*hook)(arguments...); };
      layouts().empty() ? blaming(*callback, call) : call_beside_others(*callback, call);
    }
  }

 private:
  void set(std::vector<CallbackPtr> callbacks);
  /// Calls a hook in a process that may have only parts of weights. The hook of a callback for
  /// which writes_for_all() is true fails if it reads a divided weight, because the other processes
  /// do not run it.
  static void call_beside_others(Callback& callback, const std::function<void()>& hook);

  std::shared_ptr<const std::vector<CallbackPtr>> callbacks_;
};

/// Decodes the option verbose: "auto" is 1; booleans are accepted.
int64_t verbosity(const Value& verbose);

/// Fails unless the value is null or a list of {class_name, config, state}.
void check_callback_states(const Value& states);

}  // namespace crescent
