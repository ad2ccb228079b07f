#include "training/run.h"

namespace crescent {
void Batches::begin() {
  taken_ = 0;
  if (!goes_on_ || !started_) data_->begin_epoch();
  started_ = true;
}

const Batch* Batches::next() {
  if (steps_ && taken_ == *steps_) return data_->check(), nullptr;
  heed_interruption();
  if (!data_->next(batch_) && !begins_again()) return nullptr;
  heed_interruption();
  if (!batch_.x.empty() && batch_.x.front() && batch_.x.front().rank() > 0 &&
      batch_.x.front().dim(0) == 0)
    fail(run_, ": the data gave a batch without samples, shape ", batch_.x.front().shape());
  ++taken_;
  return &batch_;
}

void Batches::heed_interruption() const {
  if (!interrupted() || taken_ == count()) return;
  const std::string of = count() >= 0 ? concat(" of ", count()) : "";
  throw Interrupted(concat(run_, ": interrupted after batch ", taken_, of));
}

bool Batches::begins_again() {
  if (goes_on_) data_->begin_epoch();
  if (goes_on_ && data_->next(batch_)) return true;
  if (steps_)
    warn("Your input ran out of data after ", taken_, " of ", *steps_,
         " steps. Make sure that your dataset or generator can "
         "generate at least `steps_per_epoch * epochs` batches.");
  return false;
}

Value steps_or_null(int64_t steps) { return steps >= 0 ? Value(steps) : Value(); }

Logs lazy_logs(Model& model) {
  return Logs([&model] { return Stepper(model).results(); });
}

void check_compiled(const Model& model) {
  if (!model.compiled()) fail("You must compile your model before using it.");
}

void check_stateful(const Model& model, int64_t samples, int64_t batch_size) {
  if (model.stateful() && samples % batch_size != 0)
    fail(
        "In a stateful network, you should only pass inputs with a number of samples that can be "
        "divided by the batch size. Found: ",
        samples, " samples. Batch size: ", batch_size, ".");
}

void test_epoch(Model& model, Batches& batches, const CallbackList& callbacks) {
  model.reset_metrics();
  callbacks.each(&Callback::on_test_begin, Logs());
  batches.begin();
  Stepper stepper(model);
  int64_t step = 0;
  for (; const Batch* batch = batches.next(); ++step) {
    callbacks.each(&Callback::on_test_batch_begin, step, Logs());
    with_batch(step, [&] { stepper.test(*batch); });
    callbacks.each(&Callback::on_test_batch_end, step, lazy_logs(model));
  }
  if (step == 0) fail("evaluate: the data gave no batch");
  callbacks.each(&Callback::on_test_end, lazy_logs(model));
}

}  // namespace crescent
