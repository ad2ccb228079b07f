// Identity and state of a layer: name, weights, losses, sublayers.
#include "crescent/layer.h"

#include <unordered_set>

#include "layer/blank_weights.h"
#include "layer/layer_access.h"
#include "layer/outside_trace.h"

namespace crescent {
namespace {

/// Variables, each once, in order.
class VariableList {
 public:
  void add(const Variables& variables) {
    for (const Variable& v : variables)
      if (seen_.insert(v.id()).second) list_.push_back(v);
  }
  Variables take() { return std::move(list_); }

 private:
  std::unordered_set<const void*> seen_;
  Variables list_;
};

/// What weights= may be: boxed tensors.
Tensors tensors_of(const Value& value) {
  Tensors tensors;
  for (const Value& item : value.as_list()) {
    auto boxed = item.object_as<BoxedTensor>();
    if (!boxed) fail("weights: expected a list of tensors, got ", item);
    tensors.push_back(boxed->tensor);
  }
  return tensors;
}

void collect(Layer& layer, std::unordered_set<Layer*>& seen, std::vector<Layer*>& found) {
  if (!seen.insert(&layer).second) return;
  found.push_back(&layer);
  for (const LayerPtr& sublayer : layer.sublayers()) collect(*sublayer, seen, found);
}

std::string start_of_values(const Tensors& values) {
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
Layer::~Layer() = default;

const Tensor& Call::mask(size_t input) const {
  static const Tensor none;
  return input < masks.size() ? masks[input] : none;
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
  const Shape batch{batch_size_.value_or(-1)};
  if (input_shape_option_) return batch.concat(*input_shape_option_);
  if (input_dim_) return batch.concat({*input_dim_});
  return std::nullopt;
}

void Layer::build(const std::vector<Shape>&) {}
void Layer::reset_states() {}

void Layer::build_for(const std::vector<Shape>& inputs) {
  if (built_) return;
  const OutsideTrace outside;
  LayerAccess::ensure_name(*this);
  LayerAccess::named(*this, [&] {
    LayerAccess::check_count(*this, inputs.size());
    build(inputs);
  });
  built_ = true;
  if (!initial_weights_.is_null()) set_weights(tensors_of(initial_weights_));
}

void Layer::set_trainable(bool on) {
  trainable_ = on;
  for (const LayerPtr& sublayer : sublayers_) sublayer->set_trainable(on);
}

// ---- weights -------------------------------------------------------------------------------------------

Variable Layer::add_weight(const std::string& name, const Shape& shape, const Ref<Initializer>& initializer,
                           const WeightOptions& options) {
  if (!shape.is_known()) fail("weight '", name, "': every dimension must be known, got shape ", shape);
  const OutsideTrace outside;
  const DType dtype = options.dtype.value_or(variable_dtype());
  const Tensor initial = BlankWeights::wanted() ? Tensor::uninitialized({dtype, shape})
                         : initializer          ? (*initializer)(shape, dtype)
                                                : Tensor(shape, dtype);
  Variable variable(initial, {name, options.trainable, options.autocast, options.regularizer, options.constraint});
  LayerAccess::ensure_name(*this);
  variable.set_path(name_ + "/" + name);
  track(variable);
  return variable;
}

void Layer::track(const Variable& variable) {
  Variables& own = variable.trainable() ? own_trainable_ : own_fixed_;
  for (const Variable& known : own)
    if (known == variable) return;
  own.push_back(variable);
}

void Layer::track(const LayerPtr& layer) {
  if (!layer) fail("expected a layer to track, got none");
  LayerAccess::refuse_cycle(*this, *layer);
  for (const LayerPtr& known : sublayers_)
    if (known == layer) return;
  sublayers_.push_back(layer);
}

void LayerAccess::refuse_cycle(const Layer& outer, Layer& inner) {
  for (const Layer* each : inner.flatten_layers())
    if (each == &outer) fail("Layer ", outer.name(), " cannot be inside itself");
}

void Layer::untrack(const LayerPtr& layer) { std::erase(sublayers_, layer); }

Variables Layer::trainable_weights() const {
  VariableList list;
  if (!trainable()) return {};
  list.add(own_trainable_);
  for (const LayerPtr& sublayer : sublayers_) list.add(sublayer->trainable_weights());
  return list.take();
}

Variables Layer::non_trainable_weights() const {
  VariableList list;
  if (!trainable()) list.add(own_trainable_);
  list.add(own_fixed_);
  for (const LayerPtr& sublayer : sublayers_) list.add(trainable() ? sublayer->non_trainable_weights() : sublayer->weights());
  return list.take();
}

Variables Layer::weights() const {
  VariableList list;
  list.add(trainable_weights());
  list.add(non_trainable_weights());
  return list.take();
}

Tensors Layer::get_weights() const {
  Tensors values;
  for (const Variable& v : weights_in_order()) values.push_back(v.value().clone());
  return values;
}

void Layer::set_weights(const Tensors& values) {
  const Variables own = weights_in_order();
  if (values.size() != own.size())
    fail("You called `set_weights(weights)` on layer \"", name_, "\" with a weight list of length ", values.size(),
         ", but the layer was expecting ", own.size(), " weights. Provided weights: ", start_of_values(values), "...");
  for (size_t i = 0; i < own.size(); ++i)
    if (!(own[i].shape() == values[i].shape()))
      fail("Layer weight shape ", own[i].shape(), " not compatible with provided weight shape ", values[i].shape());
  for (size_t i = 0; i < own.size(); ++i) own[i].assign(values[i].clone());
}

int64_t Layer::count_params() const {
  if (!built_)
    fail("You tried to call `count_params` on ", name_, ", but the layer isn't built. You can build it manually via: `", name_,
         ".build(batch_input_shape)`.");
  int64_t count = 0;
  for (const Variable& v : weights()) count += v.shape().size();
  return count;
}

std::vector<Layer*> Layer::flatten_layers() {
  std::unordered_set<Layer*> seen;
  std::vector<Layer*> found;
  collect(*this, seen, found);
  return found;
}

// ---- losses, metrics, randomness -----------------------------------------------------------------------

void Layer::add_loss(const Tensor& value) {
  if (value.rank() != 0) fail("add_loss: expected a scalar, got shape ", value.shape());
  call_losses_.push_back(value);
}

void LayerAccess::forget_losses(Layer& layer) {
  if (layer.sublayers_.empty()) return layer.call_losses_.clear();
  for (Layer* each : layer.flatten_layers()) each->call_losses_.clear();
}

Tensors Layer::losses() const {
  Tensors losses;
  for (Layer* each : const_cast<Layer*>(this)->flatten_layers())
    losses.insert(losses.end(), each->call_losses_.begin(), each->call_losses_.end());
  const Tensors regularizers = get_losses_for({});
  losses.insert(losses.end(), regularizers.begin(), regularizers.end());
  return losses;
}

void Layer::add_metric(const Tensor& value, const std::string& name) {
  std::shared_ptr<Metric> mean;
  for (const auto& metric : metrics_)
    if (metric->name() == name) mean = metric;
  if (!mean) {
    const OutsideTrace outside;
    metrics_.push_back(mean = make<Metric>("Mean", {{"name", name}}));
  }
  mean->update_state(value, {}, {});
}

void Layer::add_metric(std::shared_ptr<Metric> metric) {
  for (const auto& known : metrics_)
    if (known == metric) return;
  metrics_.push_back(std::move(metric));
}

SeedGenerator& Layer::add_seed_generator(std::optional<int64_t> seed) {
  constexpr size_t kRoom = 8;                        // references handed out stay good
  const OutsideTrace outside;
  if (seeds_.empty()) seeds_.reserve(kRoom);
  if (seeds_.size() == kRoom) fail("a layer has at most ", kRoom, " seed generators of its own");
  return seeds_.emplace_back(seed);
}

Dict Layer::get_config() const {
  if (info()) return Configurable::get_config();
  Dict config{{"name", name_}, {"trainable", trainable_}};
  if (batch_input_shape_) config.set("batch_input_shape", Codec<Shape>::encode(*batch_input_shape_));
  config.set("dtype", policy_.name);
  return config;
}

}  // namespace crescent
