// Makes a training run from the arguments of fit: data, validation data, weights.
#include <cmath>

#include "crescent/program/distribution.h"
#include "data/array_dataset.h"
#include "data/streams/element.h"
#include "system/operation.h"
#include "training/input/class_weighted.h"
#include "training/run_state.h"

namespace crescent {
namespace {

Shuffle shuffle_of(const Value& value) {
  if (value.is_string() && value.as_string() == "batch") return Shuffle::batches;
  if (!value.is_bool()) fail("fit: option 'shuffle': expected a boolean or \"batch\", got ", value);
  return value.as_bool() ? Shuffle::samples : Shuffle::none;
}

/// Removes the last `fraction` of the rows from the arrays and returns them as validation data.
Arrays split_validation(Arrays& arrays, double fraction) {
  const int64_t count = arrays.samples();
  const int64_t training_count =
      static_cast<int64_t>(std::floor(static_cast<double>(count) * (1 - fraction)));
  if (training_count == 0 || training_count == count)
    fail("Training data contains ", count,
         " samples, which is not sufficient to split it into a validation and training set as "
         "specified by `validation_split=",
         fraction,
         "`. Either provide more data, or a different value for the `validation_split` "
         "argument.");
  Arrays held_out_arrays = rows(arrays, training_count, count - training_count);
  held_out_arrays.first_row = training_count;
  arrays = rows(arrays, 0, training_count);
  return held_out_arrays;
}

Arrays validation_arrays(const Model& model, const Value& value) {
  const List items = value.is_list() ? value.as_list() : List();
  if (items.size() != 2 && items.size() != 3)
    fail(
        "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, "
        "val_sample_weights) items, however it "
        "contains ",
        items.size(), " items");
  const std::vector<std::string> inputs =
      model.is_graph() ? names_in_data(model.structures().inputs, model.input_names())
                       : std::vector<std::string>{};
  const std::vector<std::string> outputs =
      names_in_data(model.structures().outputs, model.output_names());
  Arrays arrays{tensors_in(expected_inputs(items[0], inputs), inputs, "validation_data"),
                tensors_in(items[1], outputs, "validation_data"),
                {}};
  if (items.size() == 3) arrays.weights = sample_weights(model, arrays.y, items[2]);
  check_arrays(model, arrays);
  return arrays;
}

/// Returns the option validation_data, which is a dataset or a list of arrays, as a dataset.
DatasetPtr validation_set(const Model& model, const FitOptions& options) {
  if (DatasetPtr data = options.validation_data.object_as<Dataset>()) return data;
  return make_array_dataset(
      validation_arrays(model, options.validation_data),
      options.validation_batch_size.value_or(batch_size_for(model, options.batch_size)),
      Shuffle::none, nullptr);
}

RunPlan plan_arrays(const Model& model, const SeedGenerator& shuffle_order, const Tensors& x,
                    const Tensors& y, const FitOptions& options) {
  Arrays arrays = checked_arrays(model, x, y, options.sample_weight);
  const int64_t batch_size = batch_size_for(model, options.batch_size);

  RunPlan plan;
  if (!options.validation_data.is_null())
    plan.validation = validation_set(model, options);
  else if (options.validation_split > 0)
    plan.validation = make_array_dataset(split_validation(arrays, options.validation_split),
                                         options.validation_batch_size.value_or(batch_size),
                                         Shuffle::none, nullptr);
  weight_classes(model, arrays, options.class_weight);
  check_stateful(model, arrays.samples(), batch_size);
  plan.data = make_array_dataset(arrays, batch_size, shuffle_of(options.shuffle), &shuffle_order);
  plan.batch_size = batch_size;
  return plan;
}

RunPlan plan_dataset(const Model& model, DatasetPtr data, DatasetPtr validation,
                     const FitOptions& options) {
  if (!data) fail("fit: expected a dataset, got none");
  if (options.validation_split > 0)
    fail("`validation_split` is only supported for arrays, not for a dataset");
  if (!options.sample_weight.is_null())
    fail("fit: a dataset gives its own sample weights; sample_weight is for arrays");
  RunPlan plan;
  plan.data = options.class_weight.is_null()
                  ? std::move(data)
                  : class_weighted(model, std::move(data), options.class_weight);
  plan.validation = std::move(validation);
  if (!plan.validation && !options.validation_data.is_null())
    plan.validation = validation_set(model, options);
  return plan;
}

/// Returns the generator that shuffles samples. The generator is seeded again if the seed of the
/// process has changed and nothing was drawn from the generator yet.
const SeedGenerator& seeded_shuffle_order(RunRecord& run_record) {
  const int64_t seed = last_random_seed();
  const bool is_fresh = run_record.shuffle_order.state().value().data<int64_t>()[1] == 0;
  if (is_fresh && run_record.seed != seed)
    run_record.shuffle_order.state().assign(Tensor::from(std::vector<int64_t>{seed, 0}, {2}));
  run_record.seed = seed;
  return run_record.shuffle_order;
}

TrainingRunPtr make_run(Model& model, const FitOptions& options, const RunPlan& plan) {
  const auto shared_owner = std::static_pointer_cast<Model>(model.weak_from_this().lock());
  // If no shared_ptr owns the model, the run does not keep it alive: the caller must keep it until
  // the run is destroyed.
  const ModelPtr shared_model = shared_owner ? shared_owner : ModelPtr(ModelPtr(), &model);
  return std::make_shared<TrainingRun>(
      std::make_unique<TrainingRun::State>(shared_model, options, plan));
}

/// Runs to the end of training. If the user interrupts, returns the history of the completed
/// epochs.
std::shared_ptr<History> finish_or_end(TrainingRun& run) {
  try {
    return run.finish();
  } catch (const Interrupted&) {
    const std::string interruption = concat("fit: interrupted ", run.state().progress_text());
    run.state().end_early();
    if (is_reporting_process()) warn(interruption);
    return run.history();
  }
}

}  // namespace

TrainingRunPtr Model::start_training(const Tensors& x, const Tensors& y,
                                     const Dict& option_values) {
  const StepLock lock(*this);
  const FitOptions options = parse<FitOptions>("fit", option_values);
  check_compiled(*this);
  return make_run(*this, options,
                  plan_arrays(*this, seeded_shuffle_order(training_->runs), x, y, options));
}

TrainingRunPtr Model::start_training(DatasetPtr data, const Dict& option_values,
                                     DatasetPtr validation) {
  const StepLock lock(*this);
  const FitOptions options = parse<FitOptions>("fit", option_values);
  check_compiled(*this);
  return make_run(*this, options,
                  plan_dataset(*this, std::move(data), std::move(validation), options));
}

std::shared_ptr<History> Model::fit(const Tensors& x, const Tensors& y, const Dict& option_values) {
  const LongOperation operation;
  return finish_or_end(*start_training(x, y, option_values));
}

std::shared_ptr<History> Model::fit(DatasetPtr data, const Dict& option_values,
                                    DatasetPtr validation) {
  const LongOperation operation;
  return finish_or_end(*start_training(std::move(data), option_values, std::move(validation)));
}

}  // namespace crescent
