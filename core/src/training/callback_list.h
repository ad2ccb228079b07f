// The callbacks of a run, called in Keras' order; those that save the model come last.
#pragma once
#include "crescent/model/model.h"
#include "registry/blame.h"

namespace crescent {

class CallbackList {
 public:
  /// User's callbacks (one, a list or none) with the progress bar first, if `verbose` asks for one.
  CallbackList(const Value& callbacks, int64_t verbose);
  const std::vector<CallbackPtr>& all() const { return *all_; }
  /// After the others, before those that come last.
  void add(CallbackPtr callback);
  /// False when it is none of them.
  bool remove(const CallbackPtr& callback);
  /// What they remember: a list of {class_name, config, state} of those that have a state.
  Value states() const;
  /// To each the state of its class and options, if there is one.
  void set_states(const Value& states) const;
  void attach(Model* model, const Dict& params) {
    for (const CallbackPtr& callback : *all_) callback->attach_run(model, params);
  }
  /// Calls the hook of each that is in the list now; hooks may change the list.
  template <class... Parameters, class... Arguments>
  void each(void (Callback::*hook)(Parameters...), Arguments&&... arguments) const {
    const auto now = all_;
    for (const CallbackPtr& callback : *now)
      blaming(*callback, [&] { (callback.get()->*hook)(arguments...); });
  }

 private:
  void set(std::vector<CallbackPtr> all);

  std::shared_ptr<const std::vector<CallbackPtr>> all_;
};

/// "auto" is 1; true and false count.
int64_t verbosity(const Value& verbose);

/// Fails unless this is a list of {class_name, config, state}, or null.
void check_callback_states(const Value& states);

}  // namespace crescent
