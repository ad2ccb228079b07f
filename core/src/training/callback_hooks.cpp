#include "crescent/model/callback_hooks.h"

#include <string_view>

namespace crescent {
namespace {

/// Looks up the hook with this name at compile time.
consteval const CallbackHook& hook_named(std::string_view name) {
  for (const CallbackHook& callback_hook : kCallbackHooks)
    if (callback_hook.name == name) return callback_hook;
  throw "no hook has this name";
}

}  // namespace

void CallbackHook::call(Callback& callback, int64_t number, Logs& logs) const {
  if (auto* adding_hook = std::get_if<LogAddingHook>(&function))
    return (callback.**adding_hook)(number, logs);
  call(callback, number, std::as_const(logs));
}

void CallbackHook::call(Callback& callback, int64_t number, const Logs& logs) const {
  if (auto* plain_hook = std::get_if<PlainHook>(&function)) return (callback.**plain_hook)(logs);
  if (auto* numbered_hook = std::get_if<NumberedHook>(&function))
    return (callback.**numbered_hook)(number, logs);
  Logs logs_copy = logs;
  (callback.*std::get<LogAddingHook>(function))(number, logs_copy);
}

void ForwardingCallback::on_train_begin(const Logs& logs) {
  forward(hook_named("on_train_begin"), 0, logs);
}
void ForwardingCallback::on_train_end(const Logs& logs) {
  forward(hook_named("on_train_end"), 0, logs);
}
void ForwardingCallback::on_epoch_begin(int64_t epoch, const Logs& logs) {
  forward(hook_named("on_epoch_begin"), epoch, logs);
}
void ForwardingCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  forward(hook_named("on_epoch_end"), epoch, logs);
}
void ForwardingCallback::on_train_batch_begin(int64_t batch, const Logs& logs) {
  forward(hook_named("on_train_batch_begin"), batch, logs);
}
void ForwardingCallback::on_train_batch_end(int64_t batch, const Logs& logs) {
  forward(hook_named("on_train_batch_end"), batch, logs);
}
void ForwardingCallback::on_test_begin(const Logs& logs) {
  forward(hook_named("on_test_begin"), 0, logs);
}
void ForwardingCallback::on_test_end(const Logs& logs) {
  forward(hook_named("on_test_end"), 0, logs);
}
void ForwardingCallback::on_test_batch_begin(int64_t batch, const Logs& logs) {
  forward(hook_named("on_test_batch_begin"), batch, logs);
}
void ForwardingCallback::on_test_batch_end(int64_t batch, const Logs& logs) {
  forward(hook_named("on_test_batch_end"), batch, logs);
}
void ForwardingCallback::on_predict_begin(const Logs& logs) {
  forward(hook_named("on_predict_begin"), 0, logs);
}
void ForwardingCallback::on_predict_end(const Logs& logs) {
  forward(hook_named("on_predict_end"), 0, logs);
}
void ForwardingCallback::on_predict_batch_begin(int64_t batch, const Logs& logs) {
  forward(hook_named("on_predict_batch_begin"), batch, logs);
}
void ForwardingCallback::on_predict_batch_end(int64_t batch, const Logs& logs) {
  forward(hook_named("on_predict_batch_end"), batch, logs);
}

}  // namespace crescent
