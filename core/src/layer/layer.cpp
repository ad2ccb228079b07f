// The identity and the state of a layer: name, weights, losses, sublayers.
#include "crescent/layer/layer.h"
#include "crescent/layer/stateless.h"
#include "crescent/layer/training.h"

#include <unordered_set>

#include "layer/blank_weights.h"
#include "layer/built_input_shapes.h"
#include "layer/calls/outside_trace.h"
#include "layer/layer_access.h"
#include "layer/policy_map.h"
#include "layer/sublayer_options.h"
#include "layer/unknown_sizes.h"
#include "program/batch_share.h"
#include "program/large_results.h"
#include "program/recording/divided.h"
#include "program/recording/lockstep.h"
#include "program/recording/option_changes.h"
#include "registry/blame.h"

namespace crescent {

/// A list of variables without duplicates, in order of insertion.
class VariableList {
 public:
  void add(const Variables& variables) {
    for (const Variable& v : variables)
      if (ids_.insert(v.id()).second) list_.push_back(v);
  }
  Variables take_variables() { return std::move(list_); }

 private:
  std::unordered_set<const void*> ids_;
  Variables list_;
};

namespace {

/// Decodes the option weights=: a list of boxed tensors.
Tensors unboxed_tensors(const Value& value) {
  Tensors tensors;
  for (const Value& item : value.as_list()) {
    auto boxed = item.object_as<BoxedTensor>();
    if (!boxed) fail("weights: expected a list of tensors, got ", item);
    tensors.push_back(boxed->tensor);
  }
  return tensors;
}

std::string shortened_text(const Tensors& values) {
  std::string text = "[";
  for (const Tensor& value : values) {
    if (text.size() > 1) text += ", ";
    text += to_text(value);
    if (text.size() > 50) return text.substr(0, 50);
  }
  return text + "]";
}

}  // namespace

Layer::Layer() : policy_(default_policy()) {}

const Tensor& Call::mask(size_t input) const {
  static const Tensor no_mask;
  return input < masks.size() ? masks[input] : no_mask;
}

void Layer::configured() {
  if (!batch_input_shape_) batch_input_shape_ = declared_input_shape();
  LayerAccess::ensure_name(*this);
}

void LayerAccess::ensure_name(Layer& layer) {
  if (layer.name_.empty()) layer.name_ = unique_name(to_snake_case(layer.class_name()));
}

std::optional<Shape> Layer::declared_input_shape() const {
  if (batch_input_shape_) return batch_input_shape_;
  const Shape batch_shape{batch_size_.value_or(-1)};
  if (input_shape_option_) return batch_shape.concat(*input_shape_option_);
  if (input_dim_) return batch_shape.concat({*input_dim_});
  return std::nullopt;
}

void Layer::build(const std::vector<Shape>&) {}
void Layer::reset_states() {}

namespace {

/// The names of the layers that contain the layer, from the outermost on, and its own name:
/// "mha/query".
std::string path_of_layer(const Layer& layer) {
  const std::vector<Layer*>& owners = LayerAccess::owners(layer);
  return owners.empty() ? layer.name() : path_of_layer(*owners.front()) + "/" + layer.name();
}

}  // namespace

void Layer::build_for(const std::vector<Shape>& inputs) {
  if (built_) return;
  const OutsideTrace outside_trace;
  const LargeResultsAbstract all_results_computed(std::nullopt);
  LayerAccess::ensure_name(*this);
  const Variables old_trainable = own_trainable_weights_, old_fixed = own_non_trainable_weights_;
  const std::vector<LayerPtr> old_sublayers = sublayers_;
  try {
    LayerAccess::with_name_in_errors(*this, [&] {
      policy_ = policy_at(policy_, path_of_layer(*this));
      LayerAccess::check_input_count(*this, inputs.size());
      build(without_stand_ins(inputs));
    });
    built_ = true;
    if (!initial_weights_.is_null()) set_weights(unboxed_tensors(initial_weights_));
  } catch (...) {
    // build() or set_weights() has failed. The weights and sublayers that build() added are
    // removed, because the next build_for() adds them again.
    built_ = false;
    own_trainable_weights_ = old_trainable, own_non_trainable_weights_ = old_fixed;
    LayerAccess::replace_sublayers(*this, old_sublayers);
    throw;
  }
  set_built_input_shapes(*this, inputs);
  apply_options_of_owners(*this);
}

void Layer::describe_options(Schema<Layer>& s) {
  s.field("name", &Layer::name_,
          "Name of the layer, unique in a model; by default the name of the class with a number.")
      .field("trainable", &Layer::trainable_, "Whether training updates the weights.")
      .field("batch_input_shape", &Layer::batch_input_shape_,
             "Shape of the input, including the batch axis.")
      .omit_null()
      .field("dtype", &Layer::policy_, "Dtype or dtype policy of weights and computation.")
      .field("activity_regularizer", &Layer::activity_regularizer_,
             "Penalty on the output that is added to the loss.")
      .omit_null()
      .field("autocast", &Layer::autocast_,
             "Cast floating-point inputs and weights to the dtype of the computation.")
      .not_stored()
      .field("input_shape", &Layer::input_shape_option_,
             "Shape of the input, excluding the batch axis.")
      .not_stored()
      .field("input_dim", &Layer::input_dim_, "Short for input_shape = {input_dim}.")
      .not_stored()
      .field("batch_size", &Layer::batch_size_, "Fixed batch size, together with input_shape.")
      .not_stored()
      .field("weights", &Layer::initial_weights_,
             "Initial values of the weights, assigned after the first build.")
      .not_stored();
  describe_sublayer_options(s);
}

void Layer::set_name(std::string name) {
  name_ = std::move(name);
  structure_changed();
}

InputCount Layer::input_count() const { return {}; }
Variables Layer::states() const { return {}; }
Variables Layer::weights_in_keras_order() const { return weights(); }
std::vector<Symbol> Layer::graph_inputs() const { return {}; }
std::vector<Symbol> Layer::graph_outputs() const { return {}; }

void Layer::set_input_specs(std::vector<InputSpec> specs) { input_specs_ = std::move(specs); }

void Layer::add_update(const Variable& variable, const Tensor& value) { variable.assign(value); }

void Layer::set_supports_masking(bool on) {
  supports_masking_ = on;
  structure_changed();
}

void Layer::set_activity_regularizer(std::shared_ptr<Regularizer> regularizer) {
  activity_regularizer_ = Ref<Regularizer>(std::move(regularizer));
  structure_changed();
}

void Layer::set_trainable(bool on) {
  if (trainable_ != on) count_trainable_change();
  trainable_ = on;
  for (const LayerPtr& sublayer : sublayers_) sublayer->set_trainable(on);
}

// ---- weights

/// Runs the initializer. Fails, naming its class, if it gives another shape.
static Tensor initial_value_of(const std::string& name, const Shape& shape, DType dtype,
                               const Initializer& initializer) {
  Tensor value = blaming(initializer, [&] { return initializer(shape, dtype); });
  if (!value || value.shape() != shape)
    fail("weight '", name, "': ", class_description(initializer.info().get(), Initializer::kKind),
         " gave ", value ? concat("a tensor of shape ", value.shape()) : "no tensor",
         ", expected shape ", shape);
  return value;
}

/// Adds a weight. If the layer was built before, the weight replaces one of the same name.
Variable Layer::add_weight(const std::string& name, const Shape& shape,
                           const Ref<Initializer>& initializer, const WeightOptions& options) {
  if (!shape.is_known())
    fail("weight '", name, "': every dimension must be known, got shape ", shape);
  const OutsideTrace outside_trace;
  const DType dtype = options.dtype.value_or(variable_dtype());
  LayerAccess::ensure_name(*this);
  const std::string path = name_ + "/" + name;
  std::optional<Division> division;
  if (options.trainable && is_floating(dtype)) division = division_for(path, shape);
  const bool is_blank = BlankWeights::active();
  const Shape blank_shape = division ? part_shape(*division, shape) : shape;
  const Tensor initial_value = is_blank      ? Tensor::uninitialized({dtype, blank_shape})
                               : initializer ? initial_value_of(name, shape, dtype, *initializer)
                                             : Tensor(shape, dtype);
  Variable variable(initial_value, {name, options.trainable, options.autocast, options.regularizer,
                                    options.constraint});
  variable.set_path(path);
  if (division)
    is_blank ? declare_divided(variable, *division, shape) : divide(variable, *division);
  for (Variables* variables : {&own_trainable_weights_, &own_non_trainable_weights_})
    if (built_) std::erase_if(*variables, [&](const Variable& v) { return v.name() == name; });
  track(variable);
  return variable;
}

Variable Layer::add_weight(const std::string& name, const Shape& shape, const WeightRules& rules,
                           bool autocast) {
  return add_weight(name, shape, rules.initializer,
                    {.regularizer = rules.regularizer.shared(),
                     .constraint = rules.constraint.shared(),
                     .autocast = autocast});
}

void Layer::track(const Variable& variable) {
  Variables& own_variables =
      variable.trainable() ? own_trainable_weights_ : own_non_trainable_weights_;
  for (const Variable& tracked_variable : own_variables)
    if (tracked_variable == variable) return;
  own_variables.push_back(variable);
  structure_changed();
}

Variables Layer::trainable_weights() const {
  VariableList list;
  LayerAccess::add_trainable(*this, list);
  Variables trainable = list.take_variables();
  std::erase_if(trainable, [](const Variable& v) { return !v.trainable(); });
  return trainable;
}

Variables Layer::non_trainable_weights() const {
  std::unordered_set<const void*> trainable;
  for (const Variable& v : trainable_weights()) trainable.insert(v.id());
  Variables non_trainable = weights();
  std::erase_if(non_trainable, [&](const Variable& v) { return trainable.contains(v.id()); });
  return non_trainable;
}

Variables Layer::weights() const {
  VariableList list;
  LayerAccess::add_trainable(*this, list);
  LayerAccess::add_fixed(*this, list);
  return list.take_variables();
}

void LayerAccess::add_trainable(const Layer& layer, VariableList& list) {
  if (!layer.trainable()) return;
  list.add(layer.own_trainable_weights_);
  for (const LayerPtr& sublayer : layer.sublayers_) add_trainable(*sublayer, list);
}

void LayerAccess::add_fixed(const Layer& layer, VariableList& list) {
  const bool trainable = layer.trainable();
  if (!trainable) list.add(layer.own_trainable_weights_);
  list.add(layer.own_non_trainable_weights_);
  for (const LayerPtr& sublayer : layer.sublayers_) {
    if (!trainable) add_trainable(*sublayer, list);
    add_fixed(*sublayer, list);
  }
}

void LayerAccess::add_state(const Layer& layer, VariableList& list) {
  list.add(layer.own_trainable_weights_);
  list.add(layer.own_non_trainable_weights_);
  for (const SeedGenerator& generator : layer.seed_generators_) list.add({generator.state()});
  for (const LayerPtr& sublayer : layer.sublayers_) add_state(*sublayer, list);
}

Variables state_variables(const Layer& layer) {
  VariableList list;
  LayerAccess::add_state(layer, list);
  return list.take_variables();
}

Tensors Layer::get_weights() const {
  Tensors values;
  for (const Variable& v : weights_in_keras_order()) values.push_back(v.value().clone());
  return values;
}

void Layer::set_weights(const Tensors& values) {
  const Variables variables = weights_in_keras_order();
  if (values.size() != variables.size())
    fail_in_layer(name_, "You called `set_weights(weights)` on layer \"", name_,
                  "\" with a weight list of length ", values.size(),
                  ", but the layer was expecting ", variables.size(),
                  " weights. Provided weights: ", shortened_text(values), "...");
  for (size_t i = 0; i < variables.size(); ++i)
    if (!(variables[i].shape() == values[i].shape()))
      fail("Layer weight shape ", variables[i].shape(),
           " not compatible with provided weight shape ", values[i].shape(), " (weight ", i + 1,
           ", '", variables[i].path(), "')");
  for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(values[i].clone());
}

int64_t Layer::count_params() const {
  if (!built_)
    fail_in_layer(name_, "You tried to call `count_params` on ", name_,
                  ", but the layer isn't built. You can build it manually via: `", name_,
                  ".build(batch_input_shape)`.");
  int64_t count = 0;
  for (const Variable& v : weights()) count += v.shape().size();
  return count;
}

// ---- losses, metrics, randomness

void Layer::add_loss(const Tensor& value) {
  call_losses_.push_back(value.rank() == 0 ? value : ops::sum(value));
}

void LayerAccess::set_policy(Layer& layer, const DTypePolicy& policy) {
  layer.policy_ = policy_at(policy, path_of_layer(layer));
  layer.structure_changed();
}

void LayerAccess::forget_losses(Layer& layer) {
  if (layer.sublayers_.empty()) return layer.call_losses_.clear();
  for (Layer* nested_layer : layer.flatten_layers()) nested_layer->call_losses_.clear();
}

Tensors LayerAccess::added_losses(const Layer& layer) {
  Tensors losses;
  for (Layer* nested_layer : const_cast<Layer&>(layer).flatten_layers())
    losses.insert(losses.end(), nested_layer->call_losses_.begin(),
                  nested_layer->call_losses_.end());
  return losses;
}

Tensors Layer::losses() const {
  Tensors losses = LayerAccess::added_losses(*this);
  const Tensors penalties = get_losses_for({});
  losses.insert(losses.end(), penalties.begin(), penalties.end());
  return losses;
}

namespace {

struct WeightedMean {
  Tensor mean;
  /// The number of elements of which `mean` is the mean; an empty Tensor stands for 1.
  Tensor weight;
};

/// Processes compute shares of a batch, and each has the `value` of its own share. Returns the mean
/// over the whole batch, with which a metric is updated. If `value` is a scalar, the shares are
/// weighted by their numbers of rows; otherwise all elements of all shares have equal weight.
WeightedMean mean_of_batch(const Tensor& value, const Share& share) {
  if (value.rank() == 0) return {ops::all_reduce(value * share.weight()), {}};
  const Tensor count = ops::all_reduce(Tensor::scalar(static_cast<double>(value.size())));
  return {ops::all_reduce(ops::sum(value)) / ops::cast(count, value.dtype()), count};
}

}  // namespace

void Layer::add_metric(const Tensor& value, const std::string& name) {
  std::shared_ptr<Metric> mean_metric;
  for (const auto& metric : metrics_)
    if (metric->name() == name) mean_metric = metric;
  if (!mean_metric) {
    const OutsideTrace outside_trace;
    add_metric(mean_metric = make<Metric>("Mean", {{"name", name}}));
  }
  const Share& share = ShareScope::current();
  if (!share) return mean_metric->update_state(value, {}, {});
  const NoGradient no_gradient;
  const auto [batch_mean, weight] = mean_of_batch(value, share);
  const Lockstep* shards = Lockstep::current();
  if (!shards || shards->shard() == 0) mean_metric->update_state(batch_mean, {}, weight);
}

void Layer::add_metric(std::shared_ptr<Metric> metric) {
  for (const auto& added_metric : metrics_)
    if (added_metric == metric) return;
  metrics_.push_back(std::move(metric));
  structure_changed();
}

SeedGenerator& Layer::add_seed_generator(std::optional<int64_t> seed) {
  // The capacity of seed_generators_ is reserved once, so that references that were returned
  // earlier stay valid.
  constexpr size_t kSeedCapacity = 8;
  const OutsideTrace outside_trace;
  if (seed_generators_.empty()) seed_generators_.reserve(kSeedCapacity);
  if (seed_generators_.size() == kSeedCapacity)
    fail("a layer has at most ", kSeedCapacity, " seed generators of its own");
  return seed_generators_.emplace_back(seed);
}

Dict Layer::get_config() const {
  if (info()) {
    Dict config = Configurable::get_config();
    if (Dict changes = sublayer_options(*this, config); !changes.empty())
      config.set(kSublayerOptions, std::move(changes));
    return config;
  }
  Dict config{{"name", name_}, {"trainable", trainable_}};
  if (batch_input_shape_)
    config.set("batch_input_shape", Codec<Shape>::encode(*batch_input_shape_));
  config.set("dtype", policy_.name);
  return config;
}

// ---- UnaryLayer

InputCount UnaryLayer::input_count() const { return {1, 1}; }
void UnaryLayer::build(const Shape& /*input*/) {}
void UnaryLayer::build(const std::vector<Shape>& inputs) { build(inputs.front()); }
Tensors UnaryLayer::call(const Tensors& inputs, const Call& call_data) {
  return {call(inputs.front(), call_data)};
}

}  // namespace crescent
