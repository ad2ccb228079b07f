#include "training/pass.h"

#include "crescent/device/row_error.h"
#include "training/input/start_together.h"

namespace crescent {

Pass::BatchStep Pass::training_step(Model& model, const StepExtras& extras,
                                    const ProcessGroup& group) {
  return {[stepper = Stepper(model), extras = extras, &model, group, has_begun = false](
              const Batch& batch, const Share& share) mutable {
            if (group.shares_batches() && share && !std::exchange(has_begun, true)) {
              stepper.prepare(batch.x);
              copy_from_rank_0(group, state_of(model));
            }
            extras.share = share;
            stepper.train(batch, extras);
          },
          &Callback::on_train_batch_begin, &Callback::on_train_batch_end,
          [&model] { return lazy_logs(model); }};
}

Pass::BatchStep Pass::testing_step(Model& model) {
  return {[stepper = Stepper(model)](const Batch& batch, const Share& share) mutable {
            stepper.test(batch, {.share = share});
          },
          &Callback::on_test_batch_begin, &Callback::on_test_batch_end,
          [&model] { return lazy_logs(model); }};
}

namespace {

/// Says where an error occurred: "batch 4 (row 13 of the data)", or "batch 4" if the row is
/// unknown. The numbers count from 1.
std::string batch_and_row_text(const DataError& error, const Batches& batches) {
  const std::string batch_text = concat("batch ", batches.batches_done() + 1);
  const auto* row_error = dynamic_cast<const RowError*>(&error);
  const std::vector<int64_t> rows = batches.last_rows();
  if (!row_error || static_cast<int64_t>(rows.size()) != row_error->rows()) return batch_text;
  return concat(batch_text, " (row ", rows[static_cast<size_t>(row_error->row())] + 1,
                " of the data)");
}

}  // namespace

bool Pass::advance(const CallbackList& callbacks) {
  const Batch* batch = batches_.next();
  if (!batch) return false;
  const int64_t batch_index = batches_.batches_done();
  callbacks.call_hooks(step_.hook_before, batch_index, Logs());
  // Errors in data name the batch, counted from 1 as in the progress bar.
  with_error_context([&](const DataError& error) { return batch_and_row_text(error, batches_); },
                     [&] { step_.step(*batch, batches_.share()); });
  batches_.mark_done();
  callbacks.call_hooks(step_.hook_after, batch_index, step_.logs());
  return true;
}

void begin_testing(Model& model, Pass& pass, const CallbackList& callbacks) {
  model.reset_metrics();
  callbacks.call_hooks(&Callback::on_test_begin, Logs());
  pass.begin();
}

void end_testing(Model& model, const Pass& pass, const CallbackList& callbacks) {
  if (pass.batches().batches_done() == 0) fail("evaluate: the data gave no batch");
  callbacks.call_hooks(&Callback::on_test_end, lazy_logs(model));
}

std::vector<std::string> names_in_option(const char* title, const Value& value) {
  std::vector<std::string> names;
  if (value.is_null()) return names;
  for (const Value& name : value.is_list() ? value.as_list() : List{value}) {
    if (!name.is_string()) fail(title, ": expected a name or a list of names, got ", value);
    names.push_back(name.as_string());
  }
  return names;
}

Value steps_or_null(int64_t steps) { return steps >= 0 ? Value(steps) : Value(); }

Logs lazy_logs(Model& model) {
  return Logs([&model] { return Stepper(model).results(); });
}

void check_compiled(const Model& model) {
  if (!model.compiled()) fail("You must compile your model before using it.");
}

int64_t batch_size_for(const Model& model, const std::optional<int64_t>& batch_size) {
  if (batch_size || !model.stateful() || !model.is_graph())
    return batch_size.value_or(kDefaultBatchSize);
  for (const Symbol& input : model.inputs())
    if (input.shape().rank() > 0 && input.shape()[0] > 0) return input.shape()[0];
  return kDefaultBatchSize;
}

void check_stateful(const Model& model, int64_t samples, int64_t batch_size) {
  if (model.stateful() && samples % batch_size != 0)
    fail(
        "In a stateful network, you should only pass inputs with a number of samples that can be "
        "divided by the batch size. Found: ",
        samples, " samples. Batch size: ", batch_size, ".");
}

}  // namespace crescent
