// evaluate, predict, and the functions for single batches.
#include <algorithm>

#include "crescent/base/progress.h"
#include "crescent/program/division.h"
#include "data/array_dataset.h"
#include "system/operation.h"
#include "training/input/run_limits.h"
#include "training/metrics_scope.h"
#include "training/pass.h"
#include "training/sharing/shared_step.h"

namespace crescent {
namespace {

/// Joins the batches of one output along their first axis. Batches with a row for each sample are
/// copied into an array for all samples; other batches are kept and concatenated at the end.
class OutputBatches {
 public:
  /// Adds the results for a batch of `count` samples. Earlier batches had `samples_before` samples;
  /// all batches together have `sample_count` samples (negative: unknown).
  void add(const Tensor& result, int64_t count, int64_t samples_before, int64_t sample_count) {
    if (result.rank() == 0)
      fail("predict: expected an output with a first axis, along which batches are joined, got a ",
           "scalar");
    if (!batches_.empty() || sample_count < 0 || result.dim(0) != count)
      return add_batch(result, samples_before);
    if (!samples_)
      samples_ = Tensor::uninitialized(
          {result.dtype(), Shape{sample_count}.concat(result.shape().slice(1, result.rank()))});
    const Shape expected_shape = Shape{count}.concat(samples_.shape().slice(1, samples_.rank()));
    if (!(result.shape() == expected_shape))
      fail("predict: expected an output of shape ", expected_shape, " like those before, got ",
           result.shape());
    const size_t row_size = samples_.bytes() / static_cast<size_t>(sample_count);
    samples_.storage()->copy(static_cast<size_t>(samples_before) * row_size, *result.storage(),
                             result.offset(), result.bytes());
  }
  /// The results for the first `count` samples, which are those of all batches.
  Tensor joined(int64_t count) const {
    if (!batches_.empty()) return ops::concatenate(batches_, 0);
    return count == samples_.dim(0) ? samples_ : samples_.view_rows(0, count).clone();
  }

 private:
  void add_batch(const Tensor& result, int64_t samples_before) {
    if (samples_) batches_.push_back(ops::slice_axis(samples_, 0, 0, samples_before).clone());
    samples_ = {};
    batches_.push_back(result.clone());
  }

  Tensor samples_;
  Tensors batches_;
};

/// Joins the outputs of batches, one array per output.
class CollectedOutputs {
 public:
  explicit CollectedOutputs(int64_t samples) : sample_count_(samples) {}
  void add(const Tensors& outputs, int64_t count) {
    if (sample_count_ >= 0 && samples_collected_ + count > sample_count_)
      fail("predict: the data gave more than the ", sample_count_, " samples that it said it has");
    outputs_.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs_[i].add(outputs[i], count, samples_collected_, sample_count_);
    samples_collected_ += count;
  }
  /// The outputs of the batches so far, if a callback or a limit has ended the prediction early.
  Tensors arrays_so_far() {
    sample_count_ = std::min(sample_count_, samples_collected_);
    return arrays();
  }
  Tensors arrays() const {
    if (samples_collected_ < sample_count_)
      fail("predict: the data gave ", samples_collected_, " of the ", sample_count_,
           " samples that it said it has");
    Tensors arrays;
    for (const OutputBatches& output : outputs_)
      arrays.push_back(output.joined(samples_collected_));
    return arrays;
  }

 private:
  int64_t sample_count_, samples_collected_ = 0;
  std::vector<OutputBatches> outputs_;
};

/// Collects the predictions of all processes. Unless weights are divided among the processes, each
/// process computes one batch of a round. At the end of the round, the processes exchange their
/// outputs, so that every process has all outputs in the order of the batches.
class SharedPredictions {
 public:
  SharedPredictions(std::shared_ptr<Communicator> communicator, CollectedOutputs& collected_outputs)
      : communicator_(std::move(communicator)), collected_outputs_(collected_outputs) {}
  /// Whether this process computes the next batch.
  bool computes_next() const {
    return !communicator_ || batches_in_round_ == communicator_->rank();
  }
  /// Adds the outputs of a batch of `count` samples. `outputs` is read only if this process
  /// computed the batch.
  void add(const Tensors& outputs, int64_t count) {
    if (!communicator_) return collected_outputs_.add(outputs, count);
    if (computes_next()) own_outputs_ = outputs;
    sample_counts_.push_back(count);
    if (++batches_in_round_ == communicator_->size()) finish();
  }
  /// Exchanges the outputs of the round, which may have fewer batches than there are processes.
  void finish() {
    for (int root = 0; root < batches_in_round_; ++root)
      collected_outputs_.add(outputs_of_process(root), sample_counts_[static_cast<size_t>(root)]);
    sample_counts_.clear();
    own_outputs_.clear();
    batches_in_round_ = 0;
  }

 private:
  /// Returns the `number` that the process `root` passed. All processes must call this function.
  int64_t broadcast_number(int root, int64_t number) const {
    communicator_->broadcast(&number, sizeof number, root);
    return number;
  }
  /// The outputs that process `root` has computed in this round.
  Tensors outputs_of_process(int root) const {
    const bool is_own_rank = root == communicator_->rank();
    Tensors outputs;
    const int64_t count = broadcast_number(root, static_cast<int64_t>(own_outputs_.size()));
    for (int64_t i = 0; i < count; ++i) {
      const Tensor own_tensor =
          is_own_rank ? own_outputs_[static_cast<size_t>(i)].clone(nullptr) : Tensor();
      const auto dtype = static_cast<DType>(
          broadcast_number(root, own_tensor ? static_cast<int64_t>(own_tensor.dtype()) : 0));
      std::vector<int64_t> dims(
          static_cast<size_t>(broadcast_number(root, own_tensor ? own_tensor.rank() : 0)));
      for (size_t axis = 0; axis < dims.size(); ++axis)
        dims[axis] =
            broadcast_number(root, own_tensor ? own_tensor.dim(static_cast<int>(axis)) : 0);
      if (dtype == DType::string) fail("predict: texts cannot be exchanged between processes");
      const Tensor output = own_tensor ? own_tensor : Tensor::uninitialized({dtype, Shape(dims)});
      communicator_->broadcast(output.storage()->host(), output.bytes(), root);
      outputs.push_back(output);
    }
    return outputs;
  }

  std::shared_ptr<Communicator> communicator_;  ///< null if each process computes all batches
  CollectedOutputs& collected_outputs_;
  int batches_in_round_ = 0;  ///< number of batches of this round so far
  std::vector<int64_t> sample_counts_;
  Tensors own_outputs_;
};

/// Returns logs with the outputs of a batch. The memory of an output is reused for the next batch
/// unless a callback has stored the tensor.
Logs logs_with_outputs(const Tensors& outputs) {
  Logs logs;
  logs.set_outputs(outputs);
  return logs;
}

/// The step of predict. Its outputs are empty in a process that did not compute the batch.
Pass::BatchStep prediction_step(Model& model, SharedPredictions& predictions) {
  const auto outputs = std::make_shared<Tensors>();
  return {
      [stepper = Stepper(model), outputs, &predictions](const Batch& batch, const Share&) mutable {
        outputs->clear();
        if (predictions.computes_next()) stepper.predict(batch.x, *outputs);
        predictions.add(*outputs, batch.x.front().dim(0));
      },
      &Callback::on_predict_batch_begin, &Callback::on_predict_batch_end,
      [outputs] { return logs_with_outputs(*outputs); }};
}

/// Returns the results of a step in the order of Keras: first the logs that are named like a
/// metric, in the order of the metrics, then the other logs by name. The latter are metrics whose
/// log has the name of an output as prefix, and logs of an overridden step.
NamedValues results_in_keras_order(Model& model) {
  std::vector<std::string> metric_names;
  for (const MetricPtr& metric : model.all_metrics()) metric_names.push_back(metric_name(*metric));
  const auto key = [&](const std::string& log) {
    const std::string name = log.substr(0, log.find('['));
    const auto match = std::find(metric_names.begin(), metric_names.end(), name);
    return std::pair(match - metric_names.begin(), match == metric_names.end() ? name : "");
  };
  NamedValues results = Stepper(model).results();
  std::stable_sort(results.begin(), results.end(),
                   [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
  return results;
}

}  // namespace

NamedValues Model::evaluate(const Tensors& x, const Tensors& y, const Dict& option_values) {
  const LongOperation operation;
  const MetricsScope metrics_scope(*this, "evaluate");
  const EvaluateOptions options = parse<EvaluateOptions>("evaluate", option_values);
  check_compiled(*this);
  const Arrays arrays = checked_arrays(*this, x, y, options.sample_weight);
  const int64_t batch_size = batch_size_for(*this, options.batch_size);
  check_stateful(*this, arrays.samples(), batch_size);
  Dict remaining_options = option_values;
  remaining_options.erase("sample_weight");
  return evaluate(make_array_dataset(arrays, batch_size, Shuffle::none, nullptr),
                  remaining_options);
}

NamedValues Model::evaluate(DatasetPtr data, const Dict& option_values) {
  const LongOperation operation;
  const MetricsScope metrics_scope(*this, "evaluate");
  const EvaluateOptions options = parse<EvaluateOptions>("evaluate", option_values);
  check_compiled(*this);
  CallbackList callbacks(options.callbacks, verbosity(options.verbose));
  const ProcessGroup group = group_for(*this, "evaluate", ProcessGroup::for_inference());
  Pass pass(Batches("evaluate", data, options.steps, false, group), Pass::testing_step(*this));
  callbacks.attach(this, {{"batch_size", batch_size_for(*this, options.batch_size)},
                          {"steps", steps_or_null(pass.batches().count())},
                          {"samples", steps_or_null(data->samples())},
                          {"verbose", verbosity(options.verbose)},
                          {"metrics", metrics_names()}});
  std::atomic<bool>& is_stopping = training_->stop_requests.evaluating;
  is_stopping = false;
  begin_testing(*this, pass, callbacks);
  group.run_collective([&] {
    while (!group.any_process(is_stopping) && pass.advance(callbacks)) {
    }
  });
  end_testing(*this, pass, callbacks);
  return results_in_keras_order(*this);
}

Tensors Model::predict(const Tensors& x, const Dict& option_values) {
  const LongOperation operation;
  const PredictOptions options = parse<PredictOptions>("predict", option_values);
  const int64_t batch_size = [&] {
    const auto steps_lock = enter_steps(*this);
    check_inputs(*this, x);
    const int64_t checked_batch_size = batch_size_for(*this, options.batch_size);
    check_stateful(*this, x.front().dim(0), checked_batch_size);
    return checked_batch_size;
  }();
  return predict(make_array_dataset({x, {}, {}}, batch_size, Shuffle::none, nullptr),
                 option_values);
}

Tensors Model::predict(DatasetPtr data, const Dict& option_values) {
  const LongOperation operation;
  const PredictOptions options = parse<PredictOptions>("predict", option_values);
  CallbackList callbacks(options.callbacks, verbosity(options.verbose));
  ProcessGroup group = ProcessGroup::for_inference();
  if (group.gathers_parts()) group = {};  // each process predicts its own data
  group.compute_whole_batches();          // one process computes a whole batch
  CollectedOutputs collected_outputs(options.steps ? -1 : data->samples());
  const bool computes_in_turn = [&] {
    const auto steps_lock = enter_steps(*this);
    return layouts().empty() && !any_divided(weights());
  }();
  SharedPredictions predictions(computes_in_turn ? group.communicator() : nullptr,
                                collected_outputs);
  Pass pass(Batches("predict", data, options.steps, false, group),
            prediction_step(*this, predictions));
  callbacks.attach(this, {{"batch_size", batch_size_for(*this, options.batch_size)},
                          {"steps", steps_or_null(pass.batches().count())},
                          {"samples", steps_or_null(data->samples())},
                          {"verbose", verbosity(options.verbose)}});
  std::atomic<bool>& is_stopping = training_->stop_requests.predicting;
  is_stopping = false;
  callbacks.call_hooks(&Callback::on_predict_begin, Logs());
  pass.begin();
  std::optional<Progress> progress;
  if (!option_values.contains("verbose"))
    progress.emplace("predict", "batch", std::max<int64_t>(pass.batches().count(), 0));
  group.run_collective([&] {
    while (!group.any_process(is_stopping) && pass.advance(callbacks))
      if (progress) progress->come_to(pass.batches().batches_done());
    predictions.finish();
  });
  progress.reset();
  if (pass.batches().batches_done() == 0) fail("predict: the data gave no batch");
  callbacks.call_hooks(&Callback::on_predict_end, Logs());
  return is_stopping || max_steps_per_epoch() ? collected_outputs.arrays_so_far()
                                              : collected_outputs.arrays();
}

// ---- single batches

namespace {

Value boxed_tensors(const Tensors& tensors) {
  List list;
  for (const Tensor& t : tensors)
    list.push_back(t ? Value(std::make_shared<BoxedTensor>(t)) : Value());
  return tensors.empty() ? Value() : Value(list);
}

Batch checked_batch(const Model& model, const Tensors& x, const Tensors& y,
                    const Tensors& sample_weight, const Value& class_weight) {
  check_compiled(model);
  Arrays arrays = checked_arrays(model, x, y, boxed_tensors(sample_weight));
  weight_classes(model, arrays, class_weight);
  check_arrays(model, arrays);
  return {arrays.x, arrays.y, arrays.weights};
}

}  // namespace

NamedValues Model::train_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight,
                                  const Dict& class_weight, bool reset) {
  const StepLock lock(*this);
  expect_metrics_free(*this, "train_on_batch");
  const Batch batch = checked_batch(*this, x, y, sample_weight,
                                    class_weight.empty() ? Value() : Value(class_weight));
  if (reset) reset_metrics();
  Stepper stepper(*this);
  stepper.train(batch);
  return results_in_keras_order(*this);
}

NamedValues Model::test_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight,
                                 bool reset) {
  const StepLock lock(*this);
  expect_metrics_free(*this, "test_on_batch");
  const Batch batch = checked_batch(*this, x, y, sample_weight, {});
  if (reset) reset_metrics();
  Stepper stepper(*this);
  stepper.test(batch);
  return results_in_keras_order(*this);
}

Tensors Model::predict_on_batch(const Tensors& x) {
  {
    const auto steps_lock = enter_steps(*this);
    check_inputs(*this, x);
  }
  Tensors outputs;
  Stepper(*this).predict(x, outputs);
  return outputs;
}

}  // namespace crescent
