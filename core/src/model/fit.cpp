// fit, evaluate, predict: loops over batches with callbacks around them; the arithmetic is in the steps.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/array_dataset.h"
#include "model/arrays.h"
#include "model/callback_list.h"
#include "model/training.h"

namespace crescent {
namespace {

constexpr int64_t kDefaultBatch = 32;

template <class T>
T parse(const char* title, const Dict& options) {
  T parsed;
  schema_of<T>(title).configure(&parsed, options);
  return parsed;
}

Value steps_or_null(int64_t steps) { return steps >= 0 ? Value(steps) : Value(); }

/// A run in progress. One inside another (evaluate from a callback) leaves a pending interruption to the outer one.
class Run {
 public:
  Run() {
    if (depth()++ == 0) clear_interrupt();
  }
  ~Run() { --depth(); }
  Run(const Run&) = delete;

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

/// Values of the step so far, fetched when somebody looks.
Logs lazy_logs(Model& model) {
  return Logs([&model] { return Stepper(model).results(); });
}

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

void check_stateful(const Model& model, int64_t samples, int64_t batch_size) {
  if (model.stateful() && samples % batch_size != 0)
    fail("In a stateful network, you should only pass inputs with a number of samples that can be divided by the batch size. Found: ",
         samples, " samples. Batch size: ", batch_size, ".");
}

/// Goes through a dataset, a batch at a time. Training by steps goes on where the last epoch ended, over the end of the data;
/// everything else starts from the first batch and ends with the data, or earlier after `steps`.
class Batches {
 public:
  Batches(DatasetPtr data, std::optional<int64_t> steps, bool goes_on = false)
      : data_(std::move(data)), steps_(steps), goes_on_(goes_on && steps) {}
  int64_t count() const { return steps_ ? *steps_ : data_->batches(); }
  void begin() {
    taken_ = 0;
    if (!goes_on_ || !started_) data_->begin_epoch();
    started_ = true;
  }
  bool next(Batch& batch) {
    if (steps_ && taken_ == *steps_) return false;
    if (!data_->next(batch) && !begins_again(batch)) return false;
    ++taken_;
    return true;
  }

 private:
  bool begins_again(Batch& batch) {
    if (goes_on_) data_->begin_epoch();
    if (goes_on_ && data_->next(batch)) return true;
    if (steps_)
      warn("Your input ran out of data after ", taken_, " of ", *steps_, " steps. Make sure that your dataset or generator can "
           "generate at least `steps_per_epoch * epochs` batches.");
    return false;
  }

  DatasetPtr data_;
  std::optional<int64_t> steps_;
  bool goes_on_;
  int64_t taken_ = 0;
  bool started_ = false;
};

/// Evaluates on `batches`; the metrics hold the result afterwards.
void test_epoch(Model& model, Batches& batches, const CallbackList& callbacks) {
  model.reset_metrics();
  callbacks.each(&Callback::on_test_begin, Logs());
  batches.begin();
  Stepper stepper(model);
  Batch batch;
  int64_t step = 0;
  for (; batches.next(batch); ++step) {
    callbacks.each(&Callback::on_test_batch_begin, step, Logs());
    stepper.test(batch);
    callbacks.each(&Callback::on_test_batch_end, step, lazy_logs(model));
    if (interrupted()) break;
  }
  if (step == 0 && !interrupted()) fail("evaluate: the data gave no batch");
  callbacks.each(&Callback::on_test_end, lazy_logs(model));
}

/// False when training is to stop: a callback or the user said so, or the data gave nothing.
bool train_epoch(Model& model, Batches& batches, const CallbackList& callbacks) {
  model.reset_metrics();
  batches.begin();
  Stepper stepper(model);
  Batch batch;
  for (int64_t step = 0; batches.next(batch); ++step) {
    callbacks.each(&Callback::on_train_batch_begin, step, Logs());
    stepper.train(batch);
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

void check_compiled(const Model& model) {
  if (!model.compiled()) fail("You must compile your model before using it.");
}

/// Keras 2 warns; here weights that are trained were chosen when the model was compiled.
void check_trained(const Model& model, ModelAccess::Training& state) {
  if (state.trained.empty() || state.trained == model.trainable_weights()) return;
  warn("Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without calling "
       "`model.compile` after ?");
}

/// Copies each batch's rows into one array an output.
class Collected {
 public:
  explicit Collected(int64_t samples) : samples_(samples) {}
  void add(const Tensors& outputs, int64_t count) {
    for (const Tensor& t : outputs)
      if (t.rank() == 0 || t.dim(0) != count)
        fail("predict: expected outputs with a row for each of ", count, " samples, got shape ", t.shape());
    if (samples_ < 0) {
      parts_.resize(outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) parts_[i].push_back(outputs[i].clone());
      return;
    }
    if (whole_.empty())
      for (const Tensor& t : outputs) whole_.push_back(Tensor::uninitialized({t.dtype(), Shape{samples_}.concat(t.shape().slice(1, t.rank()))}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t row = whole_[i].bytes() / static_cast<size_t>(samples_);
      std::memcpy(static_cast<std::byte*>(whole_[i].raw()) + static_cast<size_t>(at_) * row, outputs[i].raw(), outputs[i].bytes());
    }
    at_ += count;
  }
  Tensors take() {
    for (const Tensors& parts : parts_) whole_.push_back(ops::concatenate(parts, 0));
    if (at_ < samples_)
      for (Tensor& t : whole_) t = t.view_rows(0, at_).clone();          // interrupted
    return std::move(whole_);
  }

 private:
  int64_t samples_, at_ = 0;
  Tensors whole_;
  std::vector<Tensors> parts_;
};

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

NamedValues Model::evaluate(const Tensors& x, const Tensors& y, const Dict& given) {
  const EvaluateOptions options = parse<EvaluateOptions>("evaluate", given);
  check_compiled(*this);
  Arrays arrays{x, y, {}};
  check_arrays(*this, arrays);
  arrays.weights = sample_weights(*this, y, options.sample_weight, {});
  const int64_t batch_size = options.batch_size.value_or(kDefaultBatch);
  check_stateful(*this, arrays.samples(), batch_size);
  Dict rest = given;
  rest.erase("sample_weight");
  return evaluate(make_array_dataset(arrays, batch_size, Shuffle::none, nullptr), rest);
}

NamedValues Model::evaluate(DatasetPtr data, const Dict& given) {
  const EvaluateOptions options = parse<EvaluateOptions>("evaluate", given);
  check_compiled(*this);
  CallbackList callbacks(options.callbacks, verbosity(options.verbose));
  Batches batches(data, options.steps);
  callbacks.attach(this, {{"batch_size", options.batch_size.value_or(kDefaultBatch)},
                          {"steps", steps_or_null(batches.count())},
                          {"samples", steps_or_null(data->samples())},
                          {"verbose", verbosity(options.verbose)},
                          {"metrics", metrics_names()}});
  const Run run;
  test_epoch(*this, batches, callbacks);
  return Stepper(*this).results();
}

Tensors Model::predict(const Tensors& x, const Dict& given) {
  const PredictOptions options = parse<PredictOptions>("predict", given);
  check_arrays(*this, {x, {}, {}});
  const int64_t batch_size = options.batch_size.value_or(kDefaultBatch);
  check_stateful(*this, x.front().dim(0), batch_size);
  return predict(make_array_dataset({x, {}, {}}, batch_size, Shuffle::none, nullptr), given);
}

Tensors Model::predict(DatasetPtr data, const Dict& given) {
  const PredictOptions options = parse<PredictOptions>("predict", given);
  CallbackList callbacks(options.callbacks, verbosity(options.verbose));
  Batches batches(data, options.steps);
  callbacks.attach(this, {{"batch_size", options.batch_size.value_or(kDefaultBatch)},
                          {"steps", steps_or_null(batches.count())},
                          {"samples", steps_or_null(data->samples())},
                          {"verbose", verbosity(options.verbose)}});
  const Run run;
  callbacks.each(&Callback::on_predict_begin, Logs());
  batches.begin();
  Stepper stepper(*this);
  Collected collected(options.steps ? -1 : data->samples());
  Batch batch;
  int64_t step = 0;
  for (; batches.next(batch); ++step) {
    callbacks.each(&Callback::on_predict_batch_begin, step, Logs());
    collected.add(stepper.predict(batch.x), batch.x.front().dim(0));
    callbacks.each(&Callback::on_predict_batch_end, step, Logs());
    if (interrupted()) break;
  }
  if (step == 0 && !interrupted()) fail("predict: the data gave no batch");
  callbacks.each(&Callback::on_predict_end, Logs());
  return collected.take();
}

// ---- single batches --------------------------------------------------------------------------------------

namespace {

Value boxed(const Tensors& tensors) {
  List list;
  for (const Tensor& t : tensors) list.push_back(t ? Value(std::make_shared<BoxedTensor>(t)) : Value());
  return tensors.empty() ? Value() : Value(list);
}

Batch checked_batch(const Model& model, const Tensors& x, const Tensors& y, const Tensors& weights, const Value& class_weight) {
  check_compiled(model);
  Arrays arrays{x, y, {}};
  check_arrays(model, arrays);
  arrays.weights = sample_weights(model, y, boxed(weights), class_weight);
  check_arrays(model, arrays);
  return {arrays.x, arrays.y, arrays.weights};
}

}  // namespace

NamedValues Model::train_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight, const Dict& class_weight, bool reset) {
  const Batch batch = checked_batch(*this, x, y, sample_weight, class_weight.empty() ? Value() : Value(class_weight));
  Stepper stepper(*this);
  stepper.train(batch);
  NamedValues values = stepper.results();
  if (reset) reset_metrics();
  return values;
}

NamedValues Model::test_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight, bool reset) {
  const Batch batch = checked_batch(*this, x, y, sample_weight, {});
  Stepper stepper(*this);
  stepper.test(batch);
  NamedValues values = stepper.results();
  if (reset) reset_metrics();
  return values;
}

Tensors Model::predict_on_batch(const Tensors& x) {
  check_arrays(*this, {x, {}, {}});
  return Stepper(*this).predict(x);
}

}  // namespace crescent
