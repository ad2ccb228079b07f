#include <algorithm>
#include <unordered_set>

#include "layer/calls/call_frame.h"
#include "layer/input_layer.h"
#include "layer/layer_access.h"
#include "model/graph.h"
#include "registry/shared_objects.h"

namespace crescent {
namespace {

/// The input shape, with batch axis, that the layer declares; for a nested model its input shape;
/// nullopt if there is none.
std::optional<Shape> input_shape_of(const LayerPtr& layer) {
  if (auto shape = layer->declared_input_shape()) return shape;
  const auto* model = dynamic_cast<const Model*>(layer.get());
  if (!model) return std::nullopt;
  if (model->is_graph()) return model->inputs().front().shape();
  return model->layers().empty() ? std::nullopt : input_shape_of(model->layers().front());
}

DType input_dtype_of(const LayerPtr& layer) {
  const auto* model = dynamic_cast<const Model*>(layer.get());
  if (model && model->is_graph()) return model->inputs().front().dtype();
  return is_floating(layer->compute_dtype()) ? floatx() : layer->compute_dtype();
}

Symbol input_for(const LayerPtr& first_layer, const Shape& shape, DType dtype) {
  InputOptions options;
  options.batch_shape = shape;
  options.name = first_layer->name() + "_input";
  options.dtype = dtype;
  return Input(options);
}
Symbol input_for(const LayerPtr& first_layer, const Shape& shape) {
  return input_for(first_layer, shape, input_dtype_of(first_layer));
}

/// Whether the model is being built by a call on a tensor of strings with this shape.
bool is_called_on_text(const Shape& shape) {
  const Tensors* current_inputs = CallFrame::current_inputs();
  return current_inputs && current_inputs->size() == 1 &&
         current_inputs->front().dtype() == DType::string &&
         current_inputs->front().shape() == shape;
}

template <class T>
T single_output(std::vector<T> outputs) {
  if (outputs.size() != 1)
    fail(
        "All layers in a Sequential model should have a single output tensor. For multi-output "
        "layers, use the functional API.");
  return std::move(outputs.front());
}

Symbol call_single(const LayerPtr& layer, const Symbol& input) {
  return single_output((*layer)(std::vector<Symbol>{input}));
}

/// Returns the input symbol, followed by the output of each layer.
std::vector<Symbol> symbols_through(const std::vector<LayerPtr>& layers, const Symbol& input) {
  std::vector<Symbol> symbols{input};
  for (const LayerPtr& layer : layers) symbols.push_back(call_single(layer, symbols.back()));
  return symbols;
}

bool have_same_spec(const Symbol& a, const Symbol& b) {
  return a.spec() == b.spec() &&
         static_cast<bool>(a.abstract().mask()) == static_cast<bool>(b.abstract().mask());
}

/// The known shape with -1 for each size that differs from that of the data.
Shape widen_shape(const Shape& known_shape, const Shape& data_shape) {
  Shape shape = known_shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (known_shape[i] != data_shape[i]) shape.set(i, -1);
  return shape;
}

/// Sets a flag until the end of the scope.
class FlagScope {
 public:
  explicit FlagScope(bool& flag) : flag_(flag), old_value_(std::exchange(flag, true)) {}
  ~FlagScope() { flag_ = old_value_; }
  FlagScope(const FlagScope&) = delete;

 private:
  bool& flag_;
  const bool old_value_;
};

}  // namespace

/// The layers and, once the input shape is known, the symbols between them.
struct Sequential::Stack {
  std::vector<LayerPtr> layers;
  LayerPtr input_layer;  ///< the InputLayer that the user added, or null
  /// The shape of the data for which the model was built, if no layer declares an input shape.
  std::optional<Shape> first_data_shape;
  std::vector<Symbol> symbols;  ///< the input, followed by the output of each layer
  std::unordered_set<std::string> names;
  /// The structure_version() of the model when symbols and names were computed.
  uint64_t version = 0;
  /// Whether symbols are being computed. Code that reads the model meanwhile, such as the garbage
  /// collector of Lua, gets the old symbols.
  bool is_computing = false;

  void check_name(const Layer& layer) const {
    if (!names.contains(layer.name())) return;
    for (const LayerPtr& existing_layer : layers)
      if (existing_layer.get() != &layer && existing_layer->name() == layer.name())
        fail("The name \"", layer.name(),
             "\" is used 2 times in the model. All layer names should be unique.");
  }

  /// The names of the layers that have changed since the symbols were computed.
  std::vector<std::string> changed_layer_names() const {
    std::vector<std::string> changed_names;
    for (const LayerPtr& layer : layers)
      if (layer->structure_version() > version) changed_names.push_back(layer->name());
    return changed_names;
  }

  /// Returns the input symbol, or a new one if the first layer now requires another shape.
  Symbol current_input() const {
    const Symbol& input = symbols.front();
    const auto required_shape =
        input_layer || first_data_shape ? std::nullopt : input_shape_of(layers.front());
    return !required_shape || required_shape->compatible(input.shape())
               ? input
               : input_for(layers.front(), *required_shape);
  }

  std::vector<Symbol> current_symbols() const {
    std::vector<Symbol> new_symbols{current_input()};
    for (size_t i = 0; i < layers.size(); ++i) {
      const Symbol& cached_output = symbols[i + 1];
      const bool has_same_input = new_symbols.back() == symbols[i];
      if (has_same_input && layers[i]->structure_version() <= version) {
        new_symbols.push_back(cached_output);
        continue;
      }
      const Symbol output = call_single(layers[i], new_symbols.back());
      new_symbols.push_back(has_same_input && have_same_spec(cached_output, output) ? cached_output
                                                                                    : output);
    }
    return new_symbols;
  }

  /// Returns the symbols for data of this shape; empty if a layer rejects the shape.
  std::vector<Symbol> symbols_for_shape(const Shape& shape) const {
    try {
      return symbols_through(layers, input_for(layers.front(), shape));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      return {};
    }
  }

  /// Whether the user declared the input shape. Otherwise it is taken from the first data with
  /// which the model is called.
  bool declares_sizes() const {
    const LayerPtr& first_layer = layers.front();
    if (input_layer || first_layer->declared_input_shape()) return true;
    if (const auto* nested_model = dynamic_cast<const Sequential*>(first_layer.get()))
      return nested_model->is_graph() && nested_model->stack_->declares_sizes();
    const auto* model = dynamic_cast<const Model*>(first_layer.get());
    return model && model->is_graph();
  }
};

Sequential::Sequential() : stack_(std::make_unique<Stack>()) {}
Sequential::~Sequential() = default;

std::shared_ptr<Sequential> Sequential::make(const std::vector<LayerPtr>& layers,
                                             std::string name) {
  auto model = std::make_shared<Sequential>();
  model->set_name(name.empty() ? unique_name("sequential") : std::move(name));
  for (const LayerPtr& layer : layers) model->add(layer);
  return model;
}

void Sequential::add(const LayerPtr& layer) {
  if (!layer) fail("The added layer must be an instance of class Layer. Found: none");
  LayerAccess::ensure_name(*layer);
  LayerAccess::refuse_cycle(*this, *layer);
  Stack& stack = *stack_;
  if (std::dynamic_pointer_cast<InputLayer>(layer)) {
    if (!stack.layers.empty() || stack.input_layer)
      fail_in_layer(name(), "Sequential ", name(), ": an InputLayer can only come first");
    stack.input_layer = layer;
    return;
  }
  update_after_changes();
  stack.check_name(*layer);
  const FlagScope computing_scope(stack.is_computing);
  if (is_graph()) {
    stack.symbols.push_back(call_single(layer, stack.symbols.back()));
  } else if (stack.layers.empty() && (stack.input_layer || input_shape_of(layer))) {
    const Symbol input = stack.input_layer ? static_cast<InputLayer&>(*stack.input_layer).symbol()
                                           : input_for(layer, *input_shape_of(layer));
    stack.symbols = symbols_through({layer}, input);
    track(input.layer());
    built_ = true;
  }
  stack.layers.push_back(layer);
  stack.names.insert(layer->name());
  track(layer);
  stack.version = structure_version();
}

void Sequential::pop() {
  Stack& stack = *stack_;
  if (stack.layers.empty()) fail("There are no layers in the model.");
  const bool is_current = stack.version == structure_version();
  const LayerPtr last_layer = stack.layers.back();
  stack.layers.pop_back();
  if (is_graph()) stack.symbols.pop_back();
  if (stack.layers.empty()) {
    stack.symbols.clear();
    stack.first_data_shape.reset();
    built_ = false;
    LayerAccess::replace_sublayers(*this, {});
  } else if (std::find(stack.layers.begin(), stack.layers.end(), last_layer) ==
             stack.layers.end()) {
    untrack(last_layer);
    stack.names.erase(last_layer->name());
  }
  if (is_current) stack.version = structure_version();
}

/// Updates the names and symbols after changes of layers; a layer whose output is unchanged keeps
/// its symbol.
void Sequential::update_after_changes() const {
  Stack& stack = *stack_;
  if (stack.version == structure_version() || stack.is_computing) return;
  const FlagScope computing_scope(stack.is_computing);
  stack.names.clear();
  for (const LayerPtr& layer : stack.layers) stack.names.insert(layer->name());
  if (is_graph()) {
    try {
      store_symbols(stack.current_symbols());
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      fail_in_layer(name(), "Sequential ", name(),
                    ": the layers do not fit each other any more since '",
                    join(stack.changed_layer_names()), "' changed: ", error.what());
    }
  }
  stack.version = structure_version();
}

void Sequential::store_symbols(std::vector<Symbol> symbols) const {
  // const_cast is allowed, because the symbols are only a cache of what the layers determine.
  auto& mutable_model = const_cast<Sequential&>(*this);
  const LayerPtr old_input = stack_->symbols.front().layer(), new_input = symbols.front().layer();
  if (old_input != new_input) LayerAccess::replace_sublayer(mutable_model, old_input, new_input);
  stack_->symbols = std::move(symbols);
}

void Sequential::build(const std::vector<Shape>& input_shapes) {
  if (is_graph()) return;
  Stack& stack = *stack_;
  if (stack.layers.empty())
    fail_in_layer(name(), "Sequential ", name(), ": There are no layers in the model.");
  if (input_shapes.size() != 1)
    fail_in_layer(name(), "Sequential ", name(), " takes one input, got ", input_shapes.size());
  Shape shape = input_shapes.front();
  if (shape.rank() == 0)
    fail_in_layer(name(), "Sequential ", name(),
                  ": expected an input with a batch axis, got shape ", shape);
  const bool is_text = is_called_on_text(shape);
  shape.set(0, -1);
  const LayerPtr& first_layer = stack.layers.front();
  stack.symbols =
      symbols_through(stack.layers, is_text ? input_for(first_layer, shape, DType::string)
                                            : input_for(first_layer, shape));
  // An input for strings is stored like an InputLayer that the user added, so that later data
  // cannot change its shape.
  if (is_text)
    stack.input_layer = stack.symbols.front().layer();
  else
    stack.first_data_shape = shape;
  std::vector<LayerPtr> layers = sublayers();
  layers.insert(layers.begin(), stack.symbols.front().layer());
  LayerAccess::replace_sublayers(*this, std::move(layers));
  stack.version = structure_version();
}

/// Makes the model accept data of these shapes, if no sizes were declared and all layers accept the
/// shapes.
void Sequential::adapt(const std::vector<Shape>& input_shapes) const {
  update_after_changes();
  Stack& stack = *stack_;
  if (!is_graph() || input_shapes.size() != 1) return;
  const Shape known_shape = stack.symbols.front().shape();
  Shape input_shape = input_shapes.front();
  if (input_shape.rank() != known_shape.rank()) return;
  input_shape.set(0, known_shape[0]);
  if (input_shape.compatible(known_shape) || stack.declares_sizes()) return;
  std::vector<Symbol> symbols = stack.symbols_for_shape(input_shape);
  if (symbols.empty()) return;
  std::vector<Symbol> widened_symbols =
      stack.symbols_for_shape(widen_shape(known_shape, input_shape));
  store_symbols(widened_symbols.empty() ? std::move(symbols) : std::move(widened_symbols));
}

Tensors Sequential::call(const Tensors& inputs, const Call& call) {
  if (inputs.size() != 1)
    fail_in_layer(name(), "Layer ", name(), " expects 1 inputs, but it received ", inputs.size(),
                  " input tensors");
  adapt({inputs.front().shape()});
  CallOptions options;
  options.training = call.training;
  Tensor x = fit_input(inputs.front(), stack_->symbols.front(), 0, name());
  for (const LayerPtr& layer : stack_->layers) x = single_output((*layer)(Tensors{x}, options));
  return {x};
}

std::vector<LayerPtr> Sequential::operations() const { return stack_->layers; }
bool Sequential::is_graph() const { return !stack_->symbols.empty(); }

std::vector<Symbol> Sequential::inputs() const {
  if (!is_graph())
    fail_in_layer(name(), "Model ", name(), " has not been built yet and has no inputs");
  update_after_changes();
  return {stack_->symbols.front()};
}

std::vector<Symbol> Sequential::outputs() const {
  if (!is_graph())
    fail_in_layer(name(), "Model ", name(), " has not been built yet and has no outputs");
  update_after_changes();
  return {stack_->symbols.back()};
}

Dict Sequential::get_config() const {
  return with_shared_objects([this] {
    List layers;
    auto append = [&](const LayerPtr& layer) {
      Dict layer_entry{{"class_name", layer->class_name()}, {"config", layer->get_config()}};
      mark_shared(layer_entry, *layer);
      layers.push_back(std::move(layer_entry));
    };
    if (stack_->input_layer) append(stack_->input_layer);
    for (const LayerPtr& layer : stack_->layers) append(layer);
    Dict config{{"name", name()}, {"layers", layers}};
    const bool depends_on_data =
        stack_->first_data_shape && !input_shape_of(stack_->layers.front());
    if (depends_on_data)
      config.set("build_input_shape", Codec<Shape>::encode(*stack_->first_data_shape));
    return config;
  });
}

}  // namespace crescent
