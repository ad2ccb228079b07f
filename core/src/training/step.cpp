// One step of training, testing or predicting: traced once per signature, one program each.
#include <algorithm>

#include "crescent/model/steps.h"
#include "layer/layer_access.h"
#include "layer/outside_trace.h"
#include "program/option_changes.h"
#include "registry/blame.h"
#include "training/state/training.h"

namespace crescent {
namespace {

Tensors abstract_like(const Tensors& tensors) {
  Tensors abstract;
  for (const Tensor& t : tensors) abstract.push_back(Tensor::abstract(t.spec()));
  return abstract;
}

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

/// Of a model that is no graph: those by which its call gives outputs, else output_1, ...
std::vector<std::string> named_outputs(const Value& structure, size_t count) {
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

size_t targets_needed(const std::vector<OutputTraining>& outputs) {
  return static_cast<size_t>(std::count_if(outputs.begin(), outputs.end(), needs_target));
}

}  // namespace

bool needs_target(const OutputTraining& output) {
  return output.loss || !output.metrics.empty() || !output.weighted_metrics.empty();
}

size_t target_place(const std::vector<OutputTraining>& outputs, size_t output, size_t targets) {
  if (targets >= outputs.size()) return output;
  if (!needs_target(outputs[output])) return targets;
  const auto here = outputs.begin() + static_cast<std::ptrdiff_t>(output);
  return static_cast<size_t>(std::count_if(outputs.begin(), here, needs_target));
}

Stepper::Stepper(Model& model) : model_(model), state_(ModelAccess::training(model)) {}

/// What was made for another structure of the model is forgotten.
void Stepper::follow_structure() {
  const uint64_t structure = model_.structure_version(), constraints = constraint_changes();
  if (structure == state_.structure_seen && constraints == state_.constraints_seen) return;
  model_.forget_programs();
  state_.structure_seen = structure;
  state_.constraints_seen = constraints;
}

/// Builds what is not built by a call without values, and gives what that gave. A model that looks
/// at values is called on them, when it runs eagerly.
Tensors Stepper::build(const Tensors& x) {
  const auto call = [&](const Tensors& given) { return model_(given, CallOptions{}); };
  Tensors outputs;
  try {
    outputs = run_abstractly(call, abstract_like(x));
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    if (!state_.options.run_eagerly) throw;
    outputs = call(x);
  }
  LayerAccess::forget_losses(model_);
  state_.structure_seen = model_.structure_version();
  return outputs;
}

/// After a change of structure: builds, and plans the outputs where they are others.
void Stepper::settle(const Tensors& x) {
  if (!state_.compiled) fail("You must compile your model before using it.");
  check_inputs(x);
  follow_structure();
  if (state_.settled) return;
  if (!steps_of(model_).calls_model(model_)) return settle_parts();
  Tensors outputs;
  if (!model_.is_graph() || !is_built(model_)) outputs = build(x);
  const Value structure = model_.structures().outputs;
  const OutputKeys keys = model_.is_graph() ? output_keys(model_)
                                            : output_keys(named_outputs(structure, outputs.size()),
                                                          structure, shapes_of(outputs));
  if (!(keys == state_.planned)) {
    state_.outputs = plan_outputs(state_.options, keys);
    state_.planned = keys;
  }
  state_.flags.take_new(model_);
  state_.settled = true;
}

/// Of a model whose steps call its parts: those are built by the first step.
void Stepper::settle_parts() {
  state_.flags.take_new(model_);
  state_.settled = true;
}

/// Builds what a step calls, by tracing it; the program is thrown away.
void Stepper::rehearse(const Batch& batch) {
  TensorSpecs specs;
  for (const Tensors& part : {batch.x, batch.y})
    for (const Tensor& t : part) specs.push_back(t.spec());
  trace(
      [&](const Tensors& given) {
        const auto middle = given.begin() + static_cast<std::ptrdiff_t>(batch.x.size());
        steps_of(model_).train_step(
            model_, {Tensors(given.begin(), middle), Tensors(middle, given.end()), {}});
        return Tensors{};
      },
      specs);
  LayerAccess::forget_losses(model_);
  state_.structure_seen = model_.structure_version();
  state_.flags.take_new(model_);
}

/// The weights that compile chose, and those that have come since; warns once when others are
/// trainable now.
void Stepper::collect_trained() {
  if (!state_.collected) {
    const AsCompiled as_compiled(model_, state_.flags, state_.trained);
    state_.trained = model_.trainable_weights();
    if (!state_.trained.empty()) {
      state_.optimizer->check_patterns(model_.weights());
      state_.optimizer->build(state_.trained);
    }
    state_.collected = true;
    if (state_.trained.empty() && !std::exchange(state_.warned, true))
      warn("The model does not have any trainable weights.");
  }
  if (state_.warned || state_.trainable_seen == trainable_changes()) return;
  state_.trainable_seen = trainable_changes();
  if (state_.trained == model_.trainable_weights()) return;
  state_.warned = true;
  warn(
      "Discrepancy between trainable weights and collected trainable weights, did you set "
      "`model.trainable` without calling "
      "`model.compile` after ? Model ",
      model_.name(), " goes on training what was trainable when it was compiled.");
}

/// Into the layout and the inputs of the state.
void Stepper::lay_out(const Batch& batch, bool training, bool inference_metrics) {
  settle(batch.x);
  const bool whole = steps_of(model_).calls_model(model_);
  if (!whole && training && !is_built(model_)) rehearse(batch);
  if (whole && batch.y.size() != state_.outputs.size() &&
      batch.y.size() != targets_needed(state_.outputs))
    fail(
        "Error when checking model target: the list of arrays that you are passing to your model "
        "is not the size the model "
        "expected. Expected to see ",
        state_.outputs.size(), " array(s), but instead got ", batch.y.size(), " array(s).");
  if (training) collect_trained();
  StepLayout& layout = state_.layout;
  layout.x = batch.x.size();
  layout.y = batch.y.size();
  layout.inference_metrics = inference_metrics;
  layout.weighted.assign(std::max(state_.outputs.size(), whole ? 0 : batch.sample_weight.size()),
                         false);
  Tensors& inputs = state_.inputs;
  inputs.clear();
  inputs.insert(inputs.end(), batch.x.begin(), batch.x.end());
  inputs.insert(inputs.end(), batch.y.begin(), batch.y.end());
  for (size_t i = 0; i < layout.weighted.size(); ++i) {
    const size_t place = whole ? target_place(state_.outputs, i, batch.y.size()) : i;
    if (place >= batch.sample_weight.size() || !batch.sample_weight[place]) continue;
    layout.weighted[i] = true;
    inputs.push_back(batch.sample_weight[place]);
  }
}

void Stepper::prepare(const Tensors& x) {
  const StepLock lock(model_);
  settle(x);
  collect_trained();
}

const Function& Stepper::function(bool training) {
  Function& function = training ? state_.train : state_.test;
  if (!function) {
    Model* model = &model_;
    function = Function(
        [model, training](const Tensors& flat) { return Stepper(*model).step(flat, training); },
        OptimizeOptions{.inference = !training});
  }
  return function;
}

void Stepper::run(const Batch& batch, bool training, bool inference_metrics) {
  const StepLock lock(model_);
  lay_out(batch, training, inference_metrics);
  if (state_.options.run_eagerly)
    run_eagerly(training);
  else
    function(training).call(state_.inputs, state_.logs, state_.layout.key());
  state_.logs_are_of_training = training;
  state_.inputs.clear();
}

/// A step that fails changes no variable.
void Stepper::run_eagerly(bool training) {
  AllOrNothing whole;
  state_.logs = step(state_.inputs, training);
  whole.keep();
}

CompiledStep Stepper::compiled_train(const Batch& batch) {
  lay_out(batch, true);
  return {function(true), std::exchange(state_.inputs, {}), state_.layout.key()};
}

CompiledStep Stepper::compiled_test(const Batch& batch) {
  lay_out(batch, false);
  return {function(false), std::exchange(state_.inputs, {}), state_.layout.key()};
}

Tensors Stepper::step(const Tensors& flat, bool training) {
  const AsCompiled as_compiled(model_, state_.flags, state_.trained);
  const StepLayout& layout = state_.layout;
  auto next = flat.begin();
  auto take = [&](size_t count) {
    Tensors part(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
    return part;
  };
  const Tensors x = take(layout.x), y = take(layout.y);
  Tensors weights;
  for (bool on : layout.weighted) weights.push_back(on ? *next++ : Tensor());

  const Batch batch{x, y, weights};
  const Steps& steps = steps_of(model_);
  state_.measured_inference = false;
  StepLogs logs = training ? steps.train_step(model_, batch) : steps.test_step(model_, batch);
  if (training && layout.inference_metrics && !state_.measured_inference)
    fail("fit: inference_metrics has no effect on a train_step of the model's own");
  LayerAccess::forget_losses(model_);
  std::vector<std::string>& names = training ? state_.train_names : state_.test_names;
  names.clear();
  Tensors values;
  for (auto& [name, value] : logs) {
    names.push_back(name);
    values.push_back(ops::cast(value, DType::float32));
  }
  return values;
}

void Stepper::predict(const Tensors& x, Tensors& outputs) {
  check_inputs(x);
  const StepLock lock(model_);
  if (state_.compiled && state_.options.run_eagerly) {
    outputs = steps_of(model_).predict_step(model_, x);
    return;
  }
  const Function& function = predict_function(x);
  outputs.clear();  // so that the results of this batch can take their place
  function.call(x, outputs, state_.predict_key);
}

CompiledStep Stepper::compiled_predict(const Tensors& x) {
  check_inputs(x);
  return {predict_function(x), x, state_.predict_key};
}

const Function& Stepper::predict_function(const Tensors& x) {
  follow_structure();
  if (!state_.predict) {
    if (!is_built(model_) && steps_of(model_).calls_model(model_)) build(x);
    Model* model = &model_;
    state_.predict = Function(
        [model](const Tensors& given) {
          Tensors outputs = steps_of(*model).predict_step(*model, given);
          LayerAccess::forget_losses(*model);
          return outputs;
        },
        OptimizeOptions{.inference = true});
  }
  if (state_.predict_trainable != trainable_changes()) {
    state_.predict_trainable = trainable_changes();
    state_.predict_key = trainable_key(model_);
  }
  return state_.predict;
}

/// What the last step gave.
NamedValues Stepper::own_logs() const {
  const std::vector<std::string>& names =
      state_.logs_are_of_training ? state_.train_names : state_.test_names;
  NamedValues values;
  for (size_t i = 0; i < state_.logs.size(); ++i) {
    if (state_.logs[i].size() != 1)
      fail("expected a number as '", names[i], "' from a step, got shape ", state_.logs[i].shape());
    values.emplace_back(names[i], state_.logs[i].item());
  }
  return values;
}

NamedValues Stepper::results() {
  const StepLock lock(model_);
  if (!state_.logs.empty()) return own_logs();
  follow_structure();
  const auto named = named_metrics(model_);
  if (!state_.results) {
    Model* model = &model_;
    state_.results = Function([model](const Tensors&) {
      std::vector<int64_t>& sizes = ModelAccess::training(*model).result_sizes;
      sizes.clear();
      Tensors values;
      for (const auto& [name, metric] : named_metrics(*model)) {
        const Tensor value = blaming(*metric, [&] { return metric->result(); });
        if (!value) fail("metric '", name, "': result() gave no tensor");
        sizes.push_back(value.size());
        values.push_back(ops::reshape(ops::cast(value, DType::float32), {-1}));
      }
      return Tensors{ops::concatenate(values, 0)};
    });
  }
  // A metric may make its state with the first batch.
  int64_t key = static_cast<int64_t>(named.size());
  for (const auto& [name, metric] : named)
    key = key * 31 + static_cast<int64_t>(metric->variables().size());
  const std::vector<double> numbers = state_.results({}, key).front().to_vector();
  NamedValues values;
  auto next = numbers.begin();
  for (size_t i = 0; i < named.size(); ++i)
    for (int64_t k = 0, size = state_.result_sizes[i]; k < size; ++k)
      values.emplace_back(size == 1 ? named[i].first : concat(named[i].first, "[", k, "]"),
                          *next++);
  return values;
}

}  // namespace crescent
