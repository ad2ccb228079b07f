// Model: compile, and access to layers and state.
#include "crescent/model/model.h"

#include <unordered_set>

#include "crescent/model/steps.h"
#include "layer/layer_access.h"
#include "model/graph.h"
#include "model/operation_layer.h"
#include "program/recording/option_changes.h"
#include "registry/blame.h"
#include "training/metrics_scope.h"
#include "training/run_state.h"

namespace crescent {
namespace {

/// Replaces objects in the value by their configurations.
Value without_objects(const Value& value) {
  if (auto object = value.object_as<Configurable>()) return serialize(object.get());
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(without_objects(item));
    return list;
  }
  if (!value.is_dict()) return value;
  Dict dict;
  for (const DictEntry& entry : value.as_dict()) dict.set(entry.key, without_objects(entry.value));
  return dict;
}

/// Replaces false by null in the value. In options of compile, false stands for null, because a
/// list in Lua cannot contain nil.
Value null_for_false(const Value& value) {
  if (value.is_bool() && !value.as_bool()) return {};
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(null_for_false(item));
    return list;
  }
  if (!value.is_dict() || value.as_dict().contains("class_name")) return value;
  Dict dict;
  for (const DictEntry& entry : value.as_dict()) dict.set(entry.key, null_for_false(entry.value));
  return dict;
}

/// Makes compile fail on unknown names of losses, before the outputs of the model are known.
void check_losses(const Value& value) {
  if (value.is_list()) {
    for (const Value& item : value.as_list()) check_losses(item);
  } else if (value.is_dict() && !value.as_dict().contains("class_name")) {
    for (const DictEntry& entry : value.as_dict()) check_losses(entry.value);
  } else {
    get<Loss>(value);
  }
}

std::shared_ptr<Optimizer> with_scaled_loss(const std::shared_ptr<Optimizer>& optimizer) {
  constexpr const char* kLossScaleClass = "LossScaleOptimizer";
  return optimizer->class_name() == kLossScaleClass
             ? optimizer
             : make<Optimizer>(kLossScaleClass, {{"inner_optimizer", Value(optimizer)}});
}

}  // namespace

Model::Model() : training_(std::make_unique<Training>()) { autocast_ = false; }
Model::~Model() = default;

void Model::compile(const Dict& options) {
  const StepLock lock(*this);
  expect_metrics_free(*this, "compile");
  CompileOptions parsed_options;
  schema_of<CompileOptions>("compile").configure(&parsed_options,
                                                 steps_of(*this).compile_options(options));
  auto optimizer = get<Optimizer>(parsed_options.optimizer);
  if (!optimizer) fail("compile: an optimizer is needed");
  if (parsed_options.remat && parsed_options.run_eagerly)
    fail("compile: remat rewrites compiled steps, and with run_eagerly there are none");
  if (parsed_options.auto_scale_loss && policy().compute == DType::float16 &&
      policy().variables != DType::float16)
    optimizer = with_scaled_loss(optimizer);
  for (Value* by_output :
       {&parsed_options.loss, &parsed_options.metrics, &parsed_options.weighted_metrics})
    *by_output = null_for_false(*by_output);
  check_losses(parsed_options.loss);
  const OutputKeys keys = is_graph() ? output_keys(*this) : OutputKeys();
  std::vector<OutputTraining> outputs =
      is_graph() ? plan_outputs(parsed_options, keys) : std::vector<OutputTraining>();
  const MetricPtr loss = make<Metric>("Mean", {{"name", "loss"}});
  forget_programs();
  Training& state = *training_;
  state.spec.options = parsed_options;
  state.spec.optimizer = optimizer;
  state.plan.keys = keys;
  state.plan.outputs = std::move(outputs);
  state.spec.loss = loss;
  state.trained_variables.flags.record(*this);
  state.trained_variables.variables.clear();
  state.trained_variables.trainable_version = trainable_changes();
  state.trained_variables.has_warned = false;
  state.spec.is_compiled = true;
}

bool Model::compiled() const { return training_->spec.is_compiled; }
std::shared_ptr<Optimizer> Model::optimizer() const { return training_->spec.optimizer; }
std::shared_ptr<History> Model::history() const { return training_->runs.history; }
const SeedGenerator& Model::shuffle_order() const { return training_->runs.shuffle_order; }
int64_t Model::epochs_trained() const { return training_->runs.epochs_trained; }
void Model::set_epochs_trained(int64_t epochs) { training_->runs.epochs_trained = epochs; }

TrainingRunPtr Model::training_run() const { return training_->runs.current_run.lock(); }

Value Model::run_state() const {
  const TrainingRunPtr run = training_run();
  return run && !run->ended() ? run->state().remaining_progress() : training_->runs.last_state;
}

void Model::set_run_state(const Value& state) {
  if (!state.is_null()) {
    const Value* callbacks = state.is_dict() ? state.as_dict().find("callbacks") : nullptr;
    if (!callbacks) fail("run state: expected a dict with 'callbacks', got ", state);
    check_callback_states(*callbacks);
  }
  training_->runs.last_state = state;
  training_->runs.last_state_is_loaded = true;
}

void Model::forget_programs() {
  training_->step_cache.forget();
  training_->trained_variables.is_collected = false;
}

std::vector<std::shared_ptr<Metric>> Model::all_metrics() const {
  std::vector<MetricPtr> metrics;
  for (const auto& [name, metric] : named_metrics(*this)) metrics.push_back(metric);
  return metrics;
}

std::vector<std::string> Model::metrics_names() const {
  std::vector<std::string> names;
  for (const auto& [name, metric] : named_metrics(*this)) names.push_back(name);
  return names;
}

/// Whether smaller or larger values of the log are better. A metric with several results is logged
/// as "name[0]", "name[1]", ..., so the index is removed. As long as the outputs of the model are
/// unknown, the metrics in the options of compile are searched.
Direction Model::direction_of(std::string_view log) const {
  if (log.starts_with("val_")) log.remove_prefix(4);
  log = log.substr(0, log.find('['));
  if (log == "loss") return Direction::down;
  for (const OutputTraining& output : training_->plan.outputs)
    if (output.loss_mean && output.loss_mean->name() == log) return Direction::down;
  for (const auto& [name, metric] : named_metrics(*this))
    if (name == log) return metric->direction();
  if (training_->plan.outputs.empty())
    for (const MetricPtr& metric : metrics_of_any_output(training_->spec.options))
      if (metric_name(*metric) == log) return metric->direction();
  return Direction::unknown;
}

void Model::reset_metrics() {
  for (const MetricPtr& metric : all_metrics()) blaming(*metric, [&] { metric->reset_state(); });
}

Value Model::compile_config() const {
  if (!training_->spec.is_compiled) return {};
  return without_objects(compile_options(training_->spec));
}

// ---- structure

std::vector<LayerPtr> Model::operations() const { return sublayers(); }

std::vector<LayerPtr> Model::layers() const {
  std::vector<LayerPtr> layers = operations();
  std::erase_if(layers, [](const LayerPtr& layer) {
    return dynamic_cast<const OperationLayer*>(layer.get()) != nullptr;
  });
  return layers;
}

LayerPtr Model::get_layer(std::string_view name) const {
  std::vector<std::string> names;
  for (const LayerPtr& layer : operations()) {
    if (layer->name() == name) return layer;
    names.push_back(layer->name());
  }
  for (const LayerPtr& layer : sublayers())
    if (layer->name() == name) return layer;
  fail("No such layer: ", name, did_you_mean(name, names), ". Existing layers are: [", join(names),
       "].");
}

LayerPtr Model::get_layer(int64_t index) const {
  const std::vector<LayerPtr> model_layers = layers();
  const int64_t count = static_cast<int64_t>(model_layers.size());
  const int64_t i = index < 0 ? index + count : index;
  if (i < 0 || i >= count)
    fail("Was asked to retrieve layer at index ", index, " but model only has ", count, " layers.");
  return model_layers[i];
}

std::vector<Symbol> Model::inputs() const {
  fail_in_layer(name(), "Model ", name(), " is not made of symbols and has no inputs to return");
}
std::vector<Symbol> Model::outputs() const {
  fail_in_layer(name(), "Model ", name(), " is not made of symbols and has no outputs to return");
}
std::vector<std::string> Model::input_names() const { return {"input_1"}; }
std::vector<std::string> Model::output_names() const {
  std::vector<std::string> names;
  for (const OutputTraining& output : training_->plan.outputs) names.push_back(output.name);
  return names;
}

Structures Model::structures() const { return {input_structure_, output_structure()}; }

void Model::set_input_structure(Value structure) {
  structure = nested_or_null(std::move(structure));
  if (structure == input_structure_) return;
  input_structure_ = std::move(structure);
  forget_programs();
}

bool Model::stateful() const {
  for (const LayerPtr& layer : sublayers())
    if (layer->stateful()) return true;
  return false;
}

/// Layers whose option `stateful` is off have no states to reset.
void Model::reset_states() {
  for (const LayerPtr& layer : sublayers()) {
    const bool has_option = layer->info() && layer->info()->schema.find("stateful");
    if (layer->stateful() || !has_option) layer->reset_states();
  }
}

/// The model's own weights, followed by those of each layer in turn.
Variables Model::weights_in_keras_order() const {
  Variables layer_weights;
  std::unordered_set<const void*> layer_weight_ids;
  for (const LayerPtr& layer : operations())
    for (const Variable& variable : layer->weights_in_keras_order()) {
      layer_weights.push_back(variable);
      layer_weight_ids.insert(variable.id());
    }
  Variables result;
  for (const Variable& variable : weights())
    if (!layer_weight_ids.contains(variable.id())) result.push_back(variable);
  result.insert(result.end(), layer_weights.begin(), layer_weights.end());
  return result;
}

}  // namespace crescent
