// CallbackList combines several callbacks for training loops that users write themselves.
#include "crescent/model/callback_hooks.h"
#include "crescent/model/model.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class CallbackList final : public ForwardingCallback {
 public:
  static void describe(Schema<CallbackList>& s) {
    s.doc("Combines several callbacks, called in order.")
        .field("callbacks", &CallbackList::callbacks_, "The callbacks.")
        .field("add_history", &CallbackList::add_history_, "Add a History at the end.")
        .field("add_progbar", &CallbackList::add_progbar_, "Add a progress bar at the start.")
        .field("model", &CallbackList::model_option_, "The model of the callbacks.")
        .not_stored()
        .property("callbacks", &CallbackList::callbacks_, "The callbacks.");
  }
  void configured() override {
    if (add_progbar_) callbacks_.insert(callbacks_.begin(), make<Callback>("ProgbarLogger"));
    if (add_history_) callbacks_.push_back(make<Callback>("History"));
    if (model_option_) attach_run(model_option_.get(), {});
  }
  void on_train_begin(const Logs& logs) override {
    for (const CallbackPtr& callback : callbacks_)
      callback->attach_run(model_.lock().get(), params_);
    ForwardingCallback::on_train_begin(logs);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    for (const CallbackPtr& callback : callbacks_) callback->on_epoch_end(epoch, logs);
  }

 private:
  void forward(const CallbackHook& hook, int64_t number, const Logs& logs) override {
    for (const CallbackPtr& callback : callbacks_) hook.call(*callback, number, logs);
  }

  std::vector<CallbackPtr> callbacks_;
  bool add_history_ = false, add_progbar_ = false;
  std::shared_ptr<Model> model_option_;
};

}  // namespace

CRESCENT_REGISTER(callback_list) { registry.add<CallbackList>("CallbackList"); }

}  // namespace crescent
