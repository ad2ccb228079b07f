// fit: a loop over epochs and batches with callbacks around them; the arithmetic is in the steps.
#include <algorithm>
#include <cmath>

#include "model/array_dataset.h"
#include "model/arrays.h"
#include "model/run.h"

namespace crescent {
namespace {

Shuffle shuffle_of(const Value& value) {
  if (value.is_string() && value.as_string() == "batch") return Shuffle::batches;
  if (!value.is_bool()) fail("fit: option 'shuffle': expected a boolean or \"batch\", got ", value);
  return value.as_bool() ? Shuffle::samples : Shuffle::none;
}

bool is_validation_epoch(const Value& freq, int64_t epoch) {
  if (freq.is_list()) {
    const List& epochs = freq.as_list();
    return std::any_of(epochs.begin(), epochs.end(), [&](const Value& e) { return e.as_int() == epoch + 1; });
  }
  const int64_t every = freq.as_int();
  if (every < 1) fail("`validation_freq` can not be less than 1.");
  return (epoch + 1) % every == 0;
}

/// False when training is to stop: a callback or the user said so, or the data gave nothing.
bool train_epoch(Model& model, Batches& batches, const CallbackList& callbacks) {
  model.reset_metrics();
  batches.begin();
  Stepper stepper(model);
  for (int64_t step = 0; const Batch* batch = batches.next(); ++step) {
    callbacks.each(&Callback::on_train_batch_begin, step, Logs());
    with_batch(step, [&] { stepper.train(*batch); });
    callbacks.each(&Callback::on_train_batch_end, step, lazy_logs(model));
    if (model.stop_training || interrupted()) return false;
  }
  return true;
}

struct Plan {
  DatasetPtr data, validation;
  std::optional<int64_t> steps, validation_steps;
  Dict params;
};

std::shared_ptr<History> run_fit(Model& model, ModelAccess::Training& state, const FitOptions& options, Plan plan) {
  const int64_t verbose = verbosity(options.verbose);
  CallbackList callbacks(options.callbacks, verbose);
  auto history = make<Callback>("History");
  state.history = std::dynamic_pointer_cast<History>(history);
  callbacks.add(history);
  Batches batches(plan.data, plan.steps, true), validation(plan.validation, plan.validation_steps);
  plan.params.set("epochs", options.epochs);
  plan.params.set("steps", steps_or_null(batches.count()));
  plan.params.set("samples", steps_or_null(plan.data->samples()));
  plan.params.set("verbose", verbose);
  plan.params.set("do_validation", plan.validation != nullptr);
  plan.params.set("metrics", model.metrics_names());
  callbacks.attach(&model, plan.params);

  const Run run;
  model.stop_training = false;
  callbacks.each(&Callback::on_train_begin, Logs());
  Logs last;
  for (int64_t epoch = options.initial_epoch; epoch < options.epochs && !model.stop_training && !interrupted(); ++epoch) {
    callbacks.each(&Callback::on_epoch_begin, epoch, Logs());
    const bool whole = train_epoch(model, batches, callbacks);
    Logs logs;
    for (const auto& [name, value] : Stepper(model).results()) logs.set(name, value);
    if (whole && plan.validation && is_validation_epoch(options.validation_freq, epoch)) {
      test_epoch(model, validation, callbacks);
      for (const auto& [name, value] : Stepper(model).results()) logs.set("val_" + name, value);
    }
    callbacks.each(&Callback::on_epoch_end, epoch, logs);
    if (!interrupted()) ++state.epochs;
    last = logs;
  }
  callbacks.each(&Callback::on_train_end, last);
  return state.history;
}

/// The last part of the arrays becomes validation data.
Arrays split_validation(Arrays& arrays, double share) {
  const int64_t count = arrays.samples();
  const int64_t kept = static_cast<int64_t>(std::floor(static_cast<double>(count) * (1 - share)));
  if (kept == 0 || kept == count)
    fail("Training data contains ", count, " samples, which is not sufficient to split it into a validation and training set as "
         "specified by `validation_split=", share, "`. Either provide more data, or a different value for the `validation_split` "
         "argument.");
  Arrays held = rows(arrays, kept, count - kept);
  arrays = rows(arrays, 0, kept);
  return held;
}

Arrays validation_arrays(const Model& model, const Value& value) {
  const List items = value.is_list() ? value.as_list() : List();
  if (items.size() != 2 && items.size() != 3)
    fail("When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, val_sample_weights) items, however it "
         "contains ", items.size(), " items");
  const std::vector<std::string> inputs = model.is_graph() ? model.input_names() : std::vector<std::string>{};
  Arrays arrays{tensors_in(items[0], inputs, "validation_data"), tensors_in(items[1], model.output_names(), "validation_data"), {}};
  if (items.size() == 3) arrays.weights = sample_weights(model, arrays.y, items[2], {});
  check_arrays(model, arrays);
  return arrays;
}

/// Keras 2 warns; here weights that are trained were chosen when the model was compiled.
void check_trained(const Model& model, ModelAccess::Training& state) {
  if (state.trained.empty() || state.trained == model.trainable_weights()) return;
  warn("Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without calling "
       "`model.compile` after ?");
}

}  // namespace

std::shared_ptr<History> Model::fit(const Tensors& x, const Tensors& y, const Dict& given) {
  const FitOptions options = parse<FitOptions>("fit", given);
  check_compiled(*this);
  Arrays arrays{x, y, {}};
  check_arrays(*this, arrays);
  arrays.weights = sample_weights(*this, y, options.sample_weight, options.class_weight);
  check_arrays(*this, arrays);
  const int64_t batch_size = options.batch_size.value_or(kDefaultBatch);
  check_trained(*this, *training_);

  Plan plan;
  const int64_t validation_batch = options.validation_batch_size.value_or(batch_size);
  std::optional<Arrays> held;
  if (!options.validation_data.is_null()) held = validation_arrays(*this, options.validation_data);
  else if (options.validation_split > 0) held = split_validation(arrays, options.validation_split);
  if (held) plan.validation = make_array_dataset(*held, validation_batch, Shuffle::none, nullptr);
  check_stateful(*this, arrays.samples(), batch_size);
  plan.data = make_array_dataset(arrays, batch_size, shuffle_of(options.shuffle), &training_->order);
  plan.steps = options.steps_per_epoch;
  plan.validation_steps = options.validation_steps;
  plan.params.set("batch_size", batch_size);
  return run_fit(*this, *training_, options, plan);
}

std::shared_ptr<History> Model::fit(DatasetPtr data, const Dict& given, DatasetPtr validation) {
  const FitOptions options = parse<FitOptions>("fit", given);
  check_compiled(*this);
  if (options.validation_split > 0) fail("`validation_split` is only supported for arrays, not for a dataset");
  if (!options.class_weight.is_null() || !options.sample_weight.is_null())
    fail("fit: a dataset gives its own sample weights; class_weight and sample_weight are for arrays");
  check_trained(*this, *training_);
  Plan plan{std::move(data), std::move(validation), options.steps_per_epoch, options.validation_steps, {}};
  if (!plan.validation && !options.validation_data.is_null())
    plan.validation = make_array_dataset(validation_arrays(*this, options.validation_data),
                                         options.validation_batch_size.value_or(options.batch_size.value_or(kDefaultBatch)),
                                         Shuffle::none, nullptr);
  plan.params.set("batch_size", Value());
  return run_fit(*this, *training_, options, plan);
}

}  // namespace crescent
