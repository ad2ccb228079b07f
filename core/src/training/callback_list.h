// The callbacks of a run, called in Keras' order; those that save the model come last.
#pragma once
#include "crescent/model.h"
#include "registry/blame.h"

namespace crescent {

class CallbackList {
 public:
  /// User's callbacks (one, a list or none) with the progress bar first, if `verbose` asks for one.
  CallbackList(const Value& callbacks, int64_t verbose);
  void add(CallbackPtr callback) { all_.push_back(std::move(callback)); }
  /// What they remember: a list of {class_name, config, state} of those that have a state.
  Value states() const;
  /// To each the state of its class and options, if there is one.
  void set_states(const Value& states) const;
  void attach(Model* model, const Dict& params) {
    for (const CallbackPtr& callback : all_) callback->attach_run(model, params);
  }
  template <class... Parameters, class... Arguments>
  void each(void (Callback::*hook)(Parameters...), Arguments&&... arguments) const {
    for (const CallbackPtr& callback : all_)
      blaming(*callback, [&] { (callback.get()->*hook)(arguments...); });
  }

 private:
  std::vector<CallbackPtr> all_;
};

/// "auto" is 1; true and false count.
int64_t verbosity(const Value& verbose);

}  // namespace crescent
