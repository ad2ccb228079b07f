#include "classes/lambda_callbacks.h"

#include <algorithm>
#include <cstring>

#include "instances/lua_objects.h"
#include "instances/pushed_logs.h"

namespace crescent::lua {
namespace {

/// Calls a Lua function with arguments and returns its result.
template <class... A>
Value call(const Value& option, const A&... arguments) {
  const auto function = option.object_as<LuaFunction>();
  if (!function) fail("expected a function, got ", option);
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 6);
  function->function.push(L);
  (push(L, arguments), ...);
  protected_call(L, sizeof...(A), 1);
  return to_value(L, -1);
}

void check_function(const char* option, const Value& value) {
  if (!value.is_null() && !value.object_as<LuaFunction>())
    fail(option, ": expected a function, got ", value);
}

/// A callback with one function per hook, given as options.
class LambdaCallback final : public ForwardingCallback {
 public:
  static void describe(Schema<LambdaCallback>& s);
  void configured() override;

 private:
  struct Hook {
    const char* name;
    Value LambdaCallback::*function;
  };
  static const Hook kHooks[];

  void forward(const CallbackHook& hook, int64_t number, const Logs& logs) override;

  Value on_epoch_begin_, on_epoch_end_, on_train_begin_, on_train_end_, on_train_batch_begin_,
      on_train_batch_end_, on_test_begin_, on_test_end_, on_test_batch_begin_, on_test_batch_end_,
      on_predict_begin_, on_predict_end_, on_predict_batch_begin_, on_predict_batch_end_;
};

const LambdaCallback::Hook LambdaCallback::kHooks[] = {
    {"on_epoch_begin", &LambdaCallback::on_epoch_begin_},
    {"on_epoch_end", &LambdaCallback::on_epoch_end_},
    {"on_train_begin", &LambdaCallback::on_train_begin_},
    {"on_train_end", &LambdaCallback::on_train_end_},
    {"on_train_batch_begin", &LambdaCallback::on_train_batch_begin_},
    {"on_train_batch_end", &LambdaCallback::on_train_batch_end_},
    {"on_test_begin", &LambdaCallback::on_test_begin_},
    {"on_test_end", &LambdaCallback::on_test_end_},
    {"on_test_batch_begin", &LambdaCallback::on_test_batch_begin_},
    {"on_test_batch_end", &LambdaCallback::on_test_batch_end_},
    {"on_predict_begin", &LambdaCallback::on_predict_begin_},
    {"on_predict_end", &LambdaCallback::on_predict_end_},
    {"on_predict_batch_begin", &LambdaCallback::on_predict_batch_begin_},
    {"on_predict_batch_end", &LambdaCallback::on_predict_batch_end_},
};

void LambdaCallback::describe(Schema<LambdaCallback>& s) {
  s.doc("Calls functions, which receive the number of the epoch or batch and the logs.");
  for (const Hook& hook : kHooks) s.field(hook.name, hook.function, "A function to call.");
}

void LambdaCallback::configured() {
  for (const Hook& hook : kHooks) check_function(hook.name, this->*hook.function);
}

void LambdaCallback::forward(const CallbackHook& hook, int64_t number, const Logs& logs) {
  const auto match = std::find_if(std::begin(kHooks), std::end(kHooks), [&](const Hook& h) {
    return std::strcmp(h.name, hook.name) == 0;
  });
  const Value& function = this->*match->function;
  if (function.is_null()) return;
  const PushedLogs pushed_logs{logs, model()};
  hook.number ? call(function, number, pushed_logs) : call(function, pushed_logs);
}

class LearningRateScheduler final : public Callback {
 public:
  static void describe(Schema<LearningRateScheduler>& s) {
    s.doc("Sets the learning rate of each epoch by a function.")
        .field("schedule", &LearningRateScheduler::schedule_,
               "A function of the epoch (from 0) and the current rate that returns the new rate.")
        .required()
        .field("verbose", &LearningRateScheduler::verbose_, "1: print a message.");
  }
  void configured() override { check_function("schedule", schedule_); }
  void on_epoch_begin(int64_t epoch, const Logs&) override {
    const Value rate = call(schedule_, epoch, current_rate());
    if (!rate.is_number())
      fail("The output of the `schedule` function should be a float. Got: ", rate);
    model_->optimizer()->set_learning_rate(rate.as_float());
    if (verbose_ > 0)
      std::printf("\nEpoch %lld: LearningRateScheduler setting learning rate to %s.\n",
                  (long long)epoch + 1, to_text(rate.as_float()).c_str());
  }
  void on_epoch_end(int64_t, Logs& logs) override { logs.set("learning_rate", current_rate()); }

 private:
  double current_rate() const { return model_->optimizer()->learning_rate().value().item(); }

  Value schedule_;
  int64_t verbose_ = 0;
};

}  // namespace

void register_lambda_callbacks(Registry& registry) {
  registry.add<LambdaCallback>("LambdaCallback");
  registry.add<LearningRateScheduler>("LearningRateScheduler");
}

}  // namespace crescent::lua
