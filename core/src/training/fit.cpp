// fit: a loop over epochs and batches with callbacks around them; the arithmetic is in the steps.
#include <algorithm>
#include <cmath>

#include "data/array_dataset.h"
#include "training/arrays.h"
#include "training/run.h"

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
    return std::any_of(epochs.begin(), epochs.end(),
                       [&](const Value& e) { return e.as_int() == epoch + 1; });
  }
  const int64_t every = freq.as_int();
  if (every < 1) fail("`validation_freq` can not be less than 1.");
  return (epoch + 1) % every == 0;
}

struct Plan {
  DatasetPtr data, validation;
  std::optional<int64_t> steps, validation_steps;
  Dict params;
};

/// One call of fit: epochs of batches, validation, callbacks around them.
class Fit {
 public:
  Fit(Model& model, const FitOptions& options, Plan plan);
  std::shared_ptr<History> run();

 private:
  void run_epoch();
  void train();
  void add_results(Logs& logs, const std::string& prefix) const;
  void end_without_data();
  std::string place() const;

  Model& model_;
  ModelAccess::Training& state_;
  const FitOptions& options_;
  Plan plan_;
  CallbackList callbacks_;
  Batches batches_, validation_;
  int64_t epoch_;                                   // from 0
  int64_t trained_epoch_ = -1, trained_batch_ = 0;  // the latest batch
  bool validating_ = false;
  bool ended_ = false;  // the data has no more
  Logs last_;           // of the last whole epoch
};

/// As long as it lives, whoever saves the model asks these callbacks for their state.
class Asked {
 public:
  Asked(ModelAccess::Training& state, const CallbackList& callbacks)
      : state_(state), before_(std::exchange(state.callbacks, &callbacks)) {}
  ~Asked() { state_.callbacks = before_; }
  Asked(const Asked&) = delete;

 private:
  ModelAccess::Training& state_;
  const CallbackList* before_;
};

Fit::Fit(Model& model, const FitOptions& options, Plan plan)
    : model_(model),
      state_(ModelAccess::training(model)),
      options_(options),
      plan_(std::move(plan)),
      callbacks_(options.callbacks, verbosity(options.verbose)),
      batches_("fit", plan_.data, plan_.steps, true),
      validation_("evaluate", plan_.validation, plan_.validation_steps),
      epoch_(options.initial_epoch) {
  auto history = make<Callback>("History");
  state_.history = std::dynamic_pointer_cast<History>(history);
  callbacks_.add(history);
  Dict& params = plan_.params;
  params.set("epochs", options.epochs);
  params.set("steps", steps_or_null(batches_.count()));
  params.set("samples", steps_or_null(plan_.data->samples()));
  params.set("verbose", verbosity(options.verbose));
  params.set("do_validation", plan_.validation != nullptr);
  params.set("metrics", model.metrics_names());
  callbacks_.attach(&model, params);
}

std::shared_ptr<History> Fit::run() {
  const Asked asked(state_, callbacks_);
  const Value loaded = std::exchange(state_.callback_states, Value());
  std::string interruption;
  model_.stop_training = false;
  callbacks_.each(&Callback::on_train_begin, Logs());
  if (std::exchange(state_.states_loaded, false)) callbacks_.set_states(loaded);
  try {
    for (; epoch_ < options_.epochs && !model_.stop_training && !ended_; ++epoch_) run_epoch();
  } catch (const Interrupted&) {
    interruption = concat("fit: interrupted ", place());
  }
  state_.callback_states = model_.callback_states();
  callbacks_.each(&Callback::on_train_end, last_);
  if (!interruption.empty()) warn(interruption);
  return state_.history;
}

void Fit::run_epoch() {
  if (interrupted()) throw Interrupted("fit: interrupted");
  callbacks_.each(&Callback::on_epoch_begin, epoch_, Logs());
  train();
  if (batches_.taken() == 0) return end_without_data();
  ended_ = batches_.ran_dry() && !model_.stop_training;
  Logs logs;
  add_results(logs, "");
  if (plan_.validation && !model_.stop_training &&
      is_validation_epoch(options_.validation_freq, epoch_)) {
    validating_ = true;
    test_epoch(model_, validation_, callbacks_);
    validating_ = false;
    add_results(logs, "val_");
  }
  ++state_.epochs;
  callbacks_.each(&Callback::on_epoch_end, epoch_, logs);
  last_ = logs;
}

/// Ends with the data, or when a callback says so.
void Fit::train() {
  model_.reset_metrics();
  batches_.begin();
  Stepper stepper(model_);
  for (int64_t step = 0; const Batch* batch = batches_.next(); ++step) {
    callbacks_.each(&Callback::on_train_batch_begin, step, Logs());
    with_batch(step, [&] { stepper.train(*batch); });
    trained_epoch_ = epoch_;
    trained_batch_ = step + 1;
    callbacks_.each(&Callback::on_train_batch_end, step, lazy_logs(model_));
    if (model_.stop_training) return;
  }
}

void Fit::add_results(Logs& logs, const std::string& prefix) const {
  for (const auto& [name, value] : Stepper(model_).results()) logs.set(prefix + name, value);
}

void Fit::end_without_data() {
  if (epoch_ == options_.initial_epoch) fail("fit: the data gave no batch");
  warn("fit: the data gave no batch in epoch ", epoch_ + 1, " of ", options_.epochs,
       "; training ends. A generator is asked again in each epoch and must start over");
  ended_ = true;
}

/// How far it came: "after batch 3 of 10 in epoch 2 of 5".
std::string Fit::place() const {
  if (trained_epoch_ < 0) return "before the first batch";
  const std::string epoch = concat("epoch ", trained_epoch_ + 1, " of ", options_.epochs);
  if (validating_) return "in the validation of " + epoch;
  const std::string of = batches_.count() >= 0 ? concat(" of ", batches_.count()) : "";
  return concat("after batch ", trained_batch_, of, " in ", epoch);
}

/// The last part of the arrays becomes validation data.
Arrays split_validation(Arrays& arrays, double share) {
  const int64_t count = arrays.samples();
  const int64_t kept = static_cast<int64_t>(std::floor(static_cast<double>(count) * (1 - share)));
  if (kept == 0 || kept == count)
    fail("Training data contains ", count,
         " samples, which is not sufficient to split it into a validation and training set as "
         "specified by `validation_split=",
         share,
         "`. Either provide more data, or a different value for the `validation_split` "
         "argument.");
  Arrays held = rows(arrays, kept, count - kept);
  arrays = rows(arrays, 0, kept);
  return held;
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
      model.is_graph() ? model.input_names() : std::vector<std::string>{};
  Arrays arrays{tensors_in(items[0], inputs, "validation_data"),
                tensors_in(items[1], model.output_names(), "validation_data"),
                {}};
  if (items.size() == 3) arrays.weights = sample_weights(model, arrays.y, items[2]);
  check_arrays(model, arrays);
  return arrays;
}

}  // namespace

std::shared_ptr<History> Model::fit(const Tensors& x, const Tensors& y, const Dict& given) {
  const Run run;
  const FitOptions options = parse<FitOptions>("fit", given);
  check_compiled(*this);
  Arrays arrays{x, y, {}};
  check_arrays(*this, arrays);
  arrays.weights = sample_weights(*this, y, options.sample_weight);
  check_arrays(*this, arrays);
  const int64_t batch_size = options.batch_size.value_or(kDefaultBatch);

  Plan plan;
  const int64_t validation_batch = options.validation_batch_size.value_or(batch_size);
  std::optional<Arrays> held;
  if (!options.validation_data.is_null())
    held = validation_arrays(*this, options.validation_data);
  else if (options.validation_split > 0)
    held = split_validation(arrays, options.validation_split);
  weight_classes(*this, arrays, options.class_weight);
  if (held) plan.validation = make_array_dataset(*held, validation_batch, Shuffle::none, nullptr);
  check_stateful(*this, arrays.samples(), batch_size);
  plan.data =
      make_array_dataset(arrays, batch_size, shuffle_of(options.shuffle), &training_->order);
  plan.steps = options.steps_per_epoch;
  plan.validation_steps = options.validation_steps;
  plan.params.set("batch_size", batch_size);
  return Fit(*this, options, std::move(plan)).run();
}

std::shared_ptr<History> Model::fit(DatasetPtr data, const Dict& given, DatasetPtr validation) {
  const Run run;
  const FitOptions options = parse<FitOptions>("fit", given);
  check_compiled(*this);
  if (options.validation_split > 0)
    fail("`validation_split` is only supported for arrays, not for a dataset");
  if (!options.class_weight.is_null() || !options.sample_weight.is_null())
    fail(
        "fit: a dataset gives its own sample weights; class_weight and sample_weight are for "
        "arrays");
  Plan plan{std::move(data),
            std::move(validation),
            options.steps_per_epoch,
            options.validation_steps,
            {}};
  if (!plan.validation && !options.validation_data.is_null())
    plan.validation = make_array_dataset(
        validation_arrays(*this, options.validation_data),
        options.validation_batch_size.value_or(options.batch_size.value_or(kDefaultBatch)),
        Shuffle::none, nullptr);
  plan.params.set("batch_size", Value());
  return Fit(*this, options, std::move(plan)).run();
}

}  // namespace crescent
