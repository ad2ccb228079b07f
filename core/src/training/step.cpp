// Stepper: compiles and runs the steps of a model (training, testing, prediction), one program for
// each signature.
#include <algorithm>

#include "crescent/model/steps.h"
#include "layer/calls/outside_trace.h"
#include "layer/layer_access.h"
#include "program/caller_entrance.h"
#include "program/recording/option_changes.h"
#include "program/recording/recorder.h"
#include "registry/blame.h"
#include "training/metrics_scope.h"
#include "training/state/training.h"
#include "training/watch/step_watch.h"

namespace crescent {
namespace {

Tensors abstract_like(const Tensors& tensors) {
  Tensors abstract_tensors;
  for (const Tensor& t : tensors) abstract_tensors.push_back(Tensor::abstract(t.spec()));
  return abstract_tensors;
}

Tensors zeros_like(const Tensors& tensors) {
  Tensors zeros;
  for (const Tensor& t : tensors) zeros.emplace_back(t.spec());
  return zeros;
}

/// Traces f on tensors with the specs of `example_tensors` and discards the recorded program.
void trace_only(const std::function<void(const Tensors&)>& f, const Tensors& example_tensors) {
  trace([&](const Tensors& tensors) { return f(tensors), Tensors(); }, specs_of(example_tensors));
}

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

/// The names of the outputs of a model that is not a graph: the keys if the outputs are a
/// dictionary, otherwise output_1, output_2, ...
std::vector<std::string> names_of_outputs(const Value& structure, size_t count) {
  if (auto keys = names_in_data(structure, keys_of(structure)); keys.size() == count) return keys;
  std::vector<std::string> names;
  for (size_t i = 1; i <= count; ++i) names.push_back(concat("output_", i));
  return names;
}

void check_inputs(const Tensors& x) {
  if (x.empty()) fail("expected a batch with input arrays, got none");
  for (const Tensor& t : x)
    if (!t || t.rank() == 0)
      fail("expected a batch of arrays with a batch axis, got ", t ? "a scalar" : "none");
}

bool is_built(Model& model) {
  const std::vector<Layer*> layers = model.flatten_layers();
  return std::all_of(layers.begin(), layers.end(),
                     [](const Layer* layer) { return layer->built(); });
}

/// While an object of this class lives, `traced_step`, the state of the model's current step, is
/// `step`.
class StepScope {
 public:
  StepScope(TracedStep& traced_step, TracedStep step)
      : traced_step_(traced_step), previous_step_(std::exchange(traced_step, step)) {}
  ~StepScope() { traced_step_ = previous_step_; }
  StepScope(const StepScope&) = delete;

 private:
  TracedStep& traced_step_;
  TracedStep previous_step_;
};

size_t needed_target_count(const std::vector<OutputTraining>& outputs) {
  return static_cast<size_t>(std::count_if(outputs.begin(), outputs.end(), needs_target));
}

}  // namespace

bool needs_target(const OutputTraining& output) {
  return output.loss || !output.metrics.empty() || !output.weighted_metrics.empty();
}

size_t target_index_of(const std::vector<OutputTraining>& outputs, size_t output_index,
                       size_t target_count) {
  if (target_count >= outputs.size()) return output_index;
  if (!needs_target(outputs[output_index])) return target_count;
  const auto position = outputs.begin() + static_cast<std::ptrdiff_t>(output_index);
  return static_cast<size_t>(std::count_if(outputs.begin(), position, needs_target));
}

void fail_target_count(const std::vector<OutputTraining>& outputs, size_t target_count) {
  fail(
      "Error when checking model target: the list of arrays that you are passing to your model is "
      "not the size the model expected. Expected to see ",
      outputs.size(), " array(s), but instead got ", target_count, " array(s).");
}

Stepper::Stepper(Model& model) : model_(model), state_(ModelAccess::training(model)) {}

/// Discards the compiled steps if the structure or a constraint of the model has changed.
void Stepper::forget_outdated_steps() {
  const uint64_t structure_version = model_.structure_version(),
                 constraint_version = constraint_changes();
  if (structure_version == state_.step_cache.structure_version &&
      constraint_version == state_.step_cache.constraint_version)
    return;
  model_.forget_programs();
  state_.step_cache.structure_version = structure_version;
  state_.step_cache.constraint_version = constraint_version;
}

/// Builds the layers by a call of the model on abstract tensors, and returns the outputs. In eager
/// mode, a model that reads values of its inputs is called on real tensors instead.
Tensors Stepper::build(const Tensors& x) {
  const auto call = [&](const Tensors& tensors) { return model_(tensors, CallOptions{}); };
  Tensors outputs;
  try {
    outputs = run_abstractly(call, abstract_like(x));
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    if (!state_.spec.options.run_eagerly) throw;
    outputs = call(x);
  }
  LayerAccess::forget_losses(model_);
  state_.step_cache.structure_version = model_.structure_version();
  return outputs;
}

/// If the structure of the model has changed, builds its layers, and makes new losses and metrics
/// if the outputs have changed. If an overridden step calls the layers instead of the model, the
/// layers are built when the step first runs.
void Stepper::build_and_plan(const Tensors& x) {
  if (!state_.spec.is_compiled) fail("You must compile your model before using it.");
  check_inputs(x);
  forget_outdated_steps();
  if (state_.step_cache.is_planned) return;
  if (!steps_of(model_).calls_model(model_)) return mark_planned();
  Tensors outputs;
  if (!model_.is_graph() || !is_built(model_)) outputs = build(x);
  const Value structure = model_.structures().outputs;
  const OutputKeys keys =
      model_.is_graph()
          ? output_keys(model_)
          : output_keys(names_of_outputs(structure, outputs.size()), structure, shapes_of(outputs));
  if (!(keys == state_.plan.keys)) {
    state_.plan.outputs = plan_outputs(state_.spec.options, keys);
    state_.plan.keys = keys;
  }
  mark_planned();
}

/// Sets is_planned, and records the flags `trainable` of layers that were added after compile.
void Stepper::mark_planned() {
  state_.trained_variables.flags.record_new_layers(model_);
  state_.step_cache.is_planned = true;
}

/// Builds the layers that the step calls.
void Stepper::build_by_step(const Batch& batch) {
  Tensors inputs = batch.x;
  inputs.insert(inputs.end(), batch.y.begin(), batch.y.end());
  trace_only(
      [&](const Tensors& tensors) {
        const auto targets_begin = tensors.begin() + static_cast<std::ptrdiff_t>(batch.x.size());
        steps_of(model_).train_step(
            model_,
            {Tensors(tensors.begin(), targets_begin), Tensors(targets_begin, tensors.end()), {}});
      },
      inputs);
  LayerAccess::forget_losses(model_);
  state_.step_cache.structure_version = model_.structure_version();
  state_.trained_variables.flags.record_new_layers(model_);
}

/// Collects the weights that were trainable when compile was called, and the trainable weights of
/// layers that were added later. Warns once if other weights are trainable now.
void Stepper::collect_trained() {
  if (!state_.trained_variables.is_collected) {
    const CompiledFlagsScope compiled_flags(model_, state_.trained_variables.flags,
                                            state_.trained_variables.variables);
    state_.trained_variables.variables = model_.trainable_weights();
    if (!state_.trained_variables.variables.empty()) {
      state_.spec.optimizer->check_patterns(model_.weights());
      state_.spec.optimizer->build(state_.trained_variables.variables);
    }
    state_.trained_variables.is_collected = true;
    if (state_.trained_variables.variables.empty() &&
        !std::exchange(state_.trained_variables.has_warned, true))
      warn("The model does not have any trainable weights.");
  }
  if (state_.trained_variables.has_warned ||
      state_.trained_variables.trainable_version == trainable_changes())
    return;
  state_.trained_variables.trainable_version = trainable_changes();
  if (state_.trained_variables.variables == model_.trainable_weights()) return;
  state_.trained_variables.has_warned = true;
  warn(
      "Discrepancy between trainable weights and collected trainable weights, did you set "
      "`model.trainable` without calling "
      "`model.compile` after ? Model ",
      model_.name(), " goes on training what was trainable when it was compiled.");
}

/// Flattens the batch into the inputs of a step, and returns the compiled step for its layout.
CompiledLayoutPtr Stepper::flatten_batch(const Batch& batch, bool training,
                                         const StepExtras& extras) {
  build_and_plan(batch.x);
  const bool calls_whole_model = steps_of(model_).calls_model(model_);
  if (!calls_whole_model && training && !is_built(model_)) build_by_step(batch);
  const bool may_lack_targets = batch.y.empty() && dynamic_cast<const Steps*>(&model_);
  if (calls_whole_model && !may_lack_targets && batch.y.size() != state_.plan.outputs.size() &&
      batch.y.size() != needed_target_count(state_.plan.outputs))
    fail_target_count(state_.plan.outputs, batch.y.size());
  if (training) collect_trained();
  StepLayout& layout = state_.step_cache.layout;
  layout.x_count = batch.x.size();
  layout.y_count = batch.y.size();
  layout.extras = extras;
  layout.is_weighted.assign(
      std::max(state_.plan.outputs.size(), calls_whole_model ? 0 : batch.sample_weight.size()),
      false);
  Tensors& inputs = state_.step_cache.inputs;
  inputs.clear();
  inputs.insert(inputs.end(), batch.x.begin(), batch.x.end());
  inputs.insert(inputs.end(), batch.y.begin(), batch.y.end());
  for (size_t i = 0; i < layout.is_weighted.size(); ++i) {
    const size_t target_index =
        calls_whole_model ? target_index_of(state_.plan.outputs, i, batch.y.size()) : i;
    if (target_index >= batch.sample_weight.size() || !batch.sample_weight[target_index]) continue;
    layout.is_weighted[i] = true;
    inputs.push_back(batch.sample_weight[target_index]);
  }
  return compiled_layout(training);
}

void Stepper::prepare(const Tensors& x) {
  const StepLock lock(model_);
  build_and_plan(x);
  if (steps_of(model_).calls_model(model_) || is_built(model_)) collect_trained();
}

/// Traces the step and discards the recorded program. In eager mode, a step that reads values runs
/// on zeros instead.
void Stepper::create_step_variables(const Batch& example_batch, bool training,
                                    const StepExtras& extras) {
  const StepLock lock(model_);
  const CompiledLayoutPtr layout = flatten_batch(example_batch, training, extras);
  const Tensors inputs = std::exchange(state_.step_cache.inputs, {});
  StepNames names;
  const auto run = [&](const Tensors& tensors) {
    step(layout->layout.batch_of(tensors), training, extras, names);
  };
  try {
    trace_only(run, inputs);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    if (!state_.spec.options.run_eagerly) throw;
    const Transaction transaction;  // the destructor restores the variables
    run(zeros_like(inputs));
  }
}

/// Returns the step for the current layout; makes it if there is none.
CompiledLayoutPtr Stepper::compiled_layout(bool training) {
  const StepLayout& layout = state_.step_cache.layout;
  std::vector<CompiledLayoutPtr>& layouts =
      training ? state_.step_cache.train_layouts : state_.step_cache.test_layouts;
  const auto matching_layout =
      std::find_if(layouts.begin(), layouts.end(),
                   [&](const auto& candidate) { return candidate->layout == layout; });
  if (matching_layout != layouts.end()) return *matching_layout;
  auto names = std::make_shared<StepNames>();
  Function function(
      [model = &model_, layout, training, names](const Tensors& flat_tensors) {
        return Stepper(*model).step(layout.batch_of(flat_tensors), training, layout.extras, *names);
      },
      OptimizeOptions{.inference = !training});
  layouts.push_back(
      std::make_shared<const CompiledLayout>(CompiledLayout{layout, function, names}));
  return layouts.back();
}

/// Runs a step. If it fails, no variable is changed.
void Stepper::run(const Batch& batch, bool training, const StepExtras& extras) {
  const StepLock lock(model_);
  StepCache& cache = state_.step_cache;
  const CompiledLayoutPtr layout = flatten_batch(batch, training, extras);
  if (state_.spec.options.run_eagerly) {
    Transaction transaction;
    cache.log_values =
        step(layout->layout.batch_of(cache.inputs), training, extras, *layout->names);
    transaction.commit();
  } else {
    layout->function.call(cache.inputs, cache.log_values);
  }
  cache.last_step = layout;
  cache.inputs.clear();
}

CompiledStep Stepper::compiled_train(const Batch& batch, const StepExtras& extras) {
  const Function function = flatten_batch(batch, true, extras)->function;
  return {function, std::exchange(state_.step_cache.inputs, {}), 0};
}

CompiledStep Stepper::compiled_test(const Batch& batch) {
  const Function function = flatten_batch(batch, false)->function;
  return {function, std::exchange(state_.step_cache.inputs, {}), 0};
}

/// Runs the step eagerly or while it is traced; returns its logs and stores their names in `names`.
Tensors Stepper::step(const Batch& batch, bool training, const StepExtras& extras,
                      StepNames& names) {
  const CompiledFlagsScope compiled_flags(model_, state_.trained_variables.flags,
                                          state_.trained_variables.variables);
  const Steps& steps = steps_of(model_);
  const StepScope scope(state_.traced_step, {extras.inference_metrics, false, extras.share, {}});
  std::optional<StepWatch> watch;
  if (StepWatch::is_needed(extras)) watch.emplace(extras, *state_.spec.optimizer);
  if (Recorder* recorder = Recorder::current(); recorder && training && state_.spec.options.remat)
    recorder->rematerialize();
  StepLogs logs = training ? steps.train_step(model_, batch) : steps.test_step(model_, batch);
  if (training && extras.inference_metrics && !state_.traced_step.has_measured_inference)
    fail("fit: inference_metrics has no effect on a train_step of the model's own");
  LayerAccess::forget_losses(model_);
  names = {};
  Tensors values;
  for (auto& [name, value] : logs) {
    names.logs.push_back(name);
    values.push_back(ops::cast(value, DType::float32));
  }
  if (!watch) return values;
  for (auto& [name, value] : watch->norms()) {
    names.norms.push_back(name);
    values.push_back(value);
  }
  return values;
}

void Stepper::run_and_restore(const Batch& batch) {
  const StepLock lock(model_);
  const CompiledLayoutPtr step_layout = flatten_batch(batch, true);
  const Batch step_batch =
      step_layout->layout.batch_of(std::exchange(state_.step_cache.inputs, {}));
  const Transaction transaction;  // the destructor restores the variables
  StepNames names;
  step(step_batch, true, {}, names);
}

void Stepper::predict(const Tensors& x, Tensors& outputs) {
  check_inputs(x);
  auto steps_lock = enter_steps(model_);
  if (state_.spec.is_compiled && state_.spec.options.run_eagerly) {
    state_.ownership.lock.wait_for_readers();
    outputs = steps_of(model_).predict_step(model_, x);
    return;
  }
  const Function function = predict_function(x);
  const int64_t key = state_.step_cache.predict_key;
  const ReadersWriterLock::ReadScope read_scope(state_.ownership.lock);
  // `steps_lock` stays locked until the program has been found, because the trace of a new program
  // reads the layers.
  const UnlockOnLookup unlock_on_lookup(steps_lock);
  outputs.clear();  // lets the function reuse the memory of the last outputs
  function.call(x, outputs, key);
}

CompiledStep Stepper::compiled_predict(const Tensors& x) {
  check_inputs(x);
  return {predict_function(x), x, state_.step_cache.predict_key};
}

const Function& Stepper::predict_function(const Tensors& x) {
  forget_outdated_steps();
  if (!state_.step_cache.predict_function) {
    if (!is_built(model_) && steps_of(model_).calls_model(model_)) build(x);
    Model* model = &model_;
    state_.step_cache.predict_function = Function(
        [model](const Tensors& tensors) {
          Tensors outputs = steps_of(*model).predict_step(*model, tensors);
          LayerAccess::forget_losses(*model);
          return outputs;
        },
        OptimizeOptions{.inference = true});
  }
  if (state_.step_cache.predict_trainable_version != trainable_changes()) {
    state_.step_cache.predict_trainable_version = trainable_changes();
    state_.step_cache.predict_key = trainable_key(model_);
  }
  return state_.step_cache.predict_function;
}

/// Appends to `values` the logs that the last step returned.
void Stepper::add_step_logs(NamedValues& values) const {
  const std::vector<std::string>& names = state_.step_cache.last_step->names->logs;
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor& log = state_.step_cache.log_values[i];
    if (log.size() != 1)
      fail("expected a number as '", names[i], "' from a step, got shape ", log.shape());
    values.emplace_back(names[i], log.item());
  }
}

/// Appends to `values` the norms of gradients and weights that the last step computed for each
/// layer.
void Stepper::add_norms(NamedValues& values) const {
  const StepNames& names = *state_.step_cache.last_step->names;
  for (size_t i = 0; i < names.norms.size(); ++i)
    values.emplace_back(names.norms[i], state_.step_cache.log_values[names.logs.size() + i].item());
}

NamedValues Stepper::results() {
  const StepLock lock(model_);
  NamedValues values;
  const bool has_step_logs = !state_.step_cache.log_values.empty();
  if (has_step_logs) add_step_logs(values);
  if (values.empty()) add_metrics(values);
  if (has_step_logs) add_norms(values);
  return values;
}

/// Appends to `values` the results of the metrics.
void Stepper::add_metrics(NamedValues& values) {
  forget_outdated_steps();
  const auto metrics_by_name = named_metrics(model_);
  if (!state_.step_cache.results_function) {
    Model* model = &model_;
    state_.step_cache.results_function = Function([model](const Tensors&) {
      std::vector<int64_t>& sizes = ModelAccess::training(*model).step_cache.result_sizes;
      sizes.clear();
      Tensors values;
      for (const auto& [name, metric] : named_metrics(*model)) {
        const Tensor value = blaming(*metric, [&] {
          const Tensor metric_result = metric->result();
          if (!metric_result) fail("result() of '", name, "' gave no tensor");
          return metric_result;
        });
        sizes.push_back(value.size());
        values.push_back(ops::reshape(ops::cast(value, DType::float32), {-1}));
      }
      return Tensors{ops::concatenate(values, 0)};
    });
  }
  // A metric may create variables on the first batch, so the key of the program depends on which
  // metrics have variables.
  int64_t key = static_cast<int64_t>(metrics_by_name.size());
  for (const auto& [name, metric] : metrics_by_name)
    key = key * 31 + static_cast<int64_t>(metric->variables().size());
  const std::vector<double> numbers =
      state_.step_cache.results_function({}, key).front().to_vector();
  auto next_number = numbers.begin();
  for (size_t i = 0; i < metrics_by_name.size(); ++i)
    for (int64_t element = 0, size = state_.step_cache.result_sizes[i]; element < size; ++element)
      values.emplace_back(size == 1 ? metrics_by_name[i].first
                                    : concat(metrics_by_name[i].first, "[", element, "]"),
                          *next_number++);
}

}  // namespace crescent
