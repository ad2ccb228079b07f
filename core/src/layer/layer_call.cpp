// Calls of layers. A call on tensors computes results or records a trace; a call on symbols adds a
// node to the graph.
#include <algorithm>

#include "crescent/program/program.h"
#include "crescent/system/crash.h"
#include "layer/calls/call_arguments.h"
#include "layer/calls/call_frame.h"
#include "layer/calls/call_observer.h"
#include "layer/calls/outside_trace.h"
#include "layer/layer_access.h"
#include "layer/unknown_sizes.h"
#include "registry/blame.h"
#include "registry/registry_state.h"

namespace crescent {
namespace {

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

std::string shapes_text(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += (text.empty() ? "" : ", ") + to_text(t.shape());
  return "[" + text + "]";
}

void check_tensors(const std::string& layer, const Tensors& inputs) {
  for (const Tensor& t : inputs)
    if (!t)
      fail_in_layer(layer, "Layer ", layer,
                    " was called with an input that isn't a symbolic tensor. Received type: none. "
                    "All inputs to the layer should be tensors.");
}

void check_specs(const std::vector<InputSpec>& specs, const std::string& layer,
                 const Tensors& inputs) {
  if (specs.empty()) return;
  if (specs.size() != inputs.size())
    fail_in_layer(layer, "Layer ", layer, " expects ", specs.size(), " inputs, but it received ",
                  inputs.size(), " input tensors. Input received: ", shapes_text(inputs));
  for (size_t i = 0; i < specs.size(); ++i)
    specs[i].check(static_cast<int>(i), layer, inputs[i].spec());
}

Tensors with_masks(Tensors tensors, const Tensors& masks) {
  for (size_t i = 0; i < masks.size() && i < tensors.size(); ++i)
    if (masks[i]) tensors[i] = tensors[i].with_mask(masks[i]);
  return tensors;
}

/// The masks of the tensors; empty when no tensor has one.
Tensors masks_of(const Tensors& tensors) {
  Tensors masks;
  bool has_mask = false;
  for (const Tensor& t : tensors) {
    masks.push_back(t.mask());
    has_mask = has_mask || t.mask();
  }
  return has_mask ? masks : Tensors();
}

Tensor cast_keeping_mask(const Tensor& t, DType dtype) {
  const Tensor mask = t.mask();
  const Tensor converted = ops::cast(t, dtype);
  return mask ? converted.with_mask(mask) : converted;
}

/// The part of a message that names the class of a layer and its plugin: ", Swish of plugin
/// 'acme.swish' (/a/acme.swish.so)"; empty for a layer of a built-in plugin.
std::string plugin_text(const Layer& layer) {
  const auto& info = layer.info();
  return info && !is_built_in(*info) ? concat(", ", info->name, " of ", describe_origin(*info))
                                     : "";
}

/// The penalty of an activity regularizer. As in Keras 3.15, it is averaged over the samples, so it
/// does not grow with the batch.
Tensor activity_loss(const Regularizer& regularizer, const Tensor& output) {
  const Tensor loss = regularizer(output);
  return output.rank() > 0 && output.dim(0) > 0 ? loss / static_cast<double>(output.dim(0)) : loss;
}

}  // namespace

void rethrow_named(const Layer& layer) try {
  rethrow_blaming(layer.info().get());
} catch (const Interrupted&) {
  throw;
} catch (Error& error) {
  if (error.layer().empty()) {
    const std::string context = concat("Layer ", layer.name(), " (", layer.class_name(), "): ");
    if (std::string_view(error.what()).find(context) == std::string_view::npos)
      error.add_context(context);
    error.set_layer(layer.name());
  }
  throw;
}

Tensors run_abstractly(const std::function<Tensors(const Tensors&)>& f, const Tensors& examples) {
  const OutsideTrace outside_trace;
  TensorSpecs specs = specs_of(examples);
  for (const Tensor& t : examples)
    if (t.mask()) specs.push_back(t.mask().spec());
  Tensors result;
  trace(
      [&](const Tensors& tensors) {
        Tensors inputs(tensors.begin(),
                       tensors.begin() + static_cast<std::ptrdiff_t>(examples.size()));
        size_t next_tensor = examples.size();
        for (size_t i = 0; i < examples.size(); ++i)
          if (examples[i].mask()) inputs[i] = inputs[i].with_mask(tensors[next_tensor++]);
        result = f(inputs);
        return Tensors{};
      },
      specs);
  return result;
}

Tensors Layer::compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) {
  if (masks.size() != 1) return {};
  return Tensors(outputs.size(), masks.front());
}

void LayerAccess::cast_to_compute_dtype(const Layer& layer, Tensors& tensors) {
  for (Tensor& t : tensors)
    if (is_floating(t.dtype()) && t.dtype() != layer.compute_dtype())
      t = cast_keeping_mask(t, layer.compute_dtype());
}

void LayerAccess::check_input_count(const Layer& layer, size_t received) {
  const InputCount count = layer.input_count();
  if (received >= count.min && received <= count.max) return;
  if (!count.expected.empty()) fail(count.expected, ". Got ", received, " inputs.");
  const bool has_too_few = received < count.min;
  fail_in_layer(layer.name(), "Layer ", layer.name(), " expects ",
                count.min == count.max ? ""
                : has_too_few          ? "at least "
                                       : "at most ",
                has_too_few ? count.min : count.max, " inputs, but it received ", received,
                " input tensors.");
}

Tensors LayerAccess::call(Layer& layer, const Tensors& inputs, const Call& call) {
  const bool is_mixed = layer.autocast_ && layer.policy_.compute != layer.policy_.variables;
  const Autocast autocast(is_mixed ? std::optional(layer.policy_.compute) : std::nullopt);
  Tensors outputs = layer.call(inputs, call);
  const bool has_missing_output =
      std::any_of(outputs.begin(), outputs.end(), [](const Tensor& t) { return !t; });
  if (has_missing_output || outputs.empty())
    fail_in_layer(
        layer.name(),
        "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: ",
        layer.name(), plugin_text(layer), ").");
  if (is_mixed) cast_to_compute_dtype(layer, outputs);
  return outputs;
}

void LayerAccess::attach_masks(Layer& layer, const Tensors& inputs, const Tensors& masks,
                               Tensors& outputs) {
  const bool supports_masking = layer.supports_masking();
  Tensors output_masks = supports_masking ? layer.compute_mask(inputs, masks, outputs) : Tensors();
  output_masks.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (output_masks[i] || outputs[i].mask()) outputs[i] = outputs[i].with_mask(output_masks[i]);
  if (!supports_masking && !masks.empty() && !std::exchange(layer.warned_of_mask_, true))
    warn("Layer '", layer.name(), "' (of type ", layer.class_name(),
         ") was passed an input with a mask attached to it. However, this "
         "layer does not support masking and will therefore destroy the mask information. "
         "Downstream layers will not see the mask.");
}

/// If the specs of the outputs were computed by running the graph, a model nested in others would
/// run once for each model around it; so the specs are read from the symbols of the graph.
Tensors LayerAccess::recorded_outputs(const Layer& layer, const Node& node, const Tensors& inputs) {
  const std::string class_name = layer.class_name();
  const bool is_graph = class_name == "Functional" || class_name == "Sequential";
  if (!is_graph || !layer.built() || !node.arguments.empty()) return {};
  const std::vector<Symbol> symbols = layer.graph_inputs();
  const auto has_spec_of = [](const Symbol& symbol, const Tensor& input) {
    return symbol.spec() == input.spec() && !input.mask() && !symbol.abstract().mask();
  };
  if (!std::equal(symbols.begin(), symbols.end(), inputs.begin(), inputs.end(), has_spec_of))
    return {};
  Tensors outputs;
  for (const Symbol& symbol : layer.graph_outputs()) {
    const Tensor mask = symbol.abstract().mask();
    outputs.push_back(Tensor::abstract(symbol.spec()));
    if (mask) outputs.back() = outputs.back().with_mask(Tensor::abstract(mask.spec()));
  }
  return outputs;
}

namespace {

/// While an object of this class lives, first_call() of the layer returns the options of its first
/// call, which builds it.
class FirstCallScope {
 public:
  FirstCallScope(const CallOptions*& first_call_options, const CallOptions& options)
      : first_call_options_(first_call_options) {
    first_call_options_ = &options;
  }
  ~FirstCallScope() { first_call_options_ = nullptr; }
  FirstCallScope(const FirstCallScope&) = delete;

 private:
  const CallOptions*& first_call_options_;
};

}  // namespace

Tensors Layer::run(const Tensors& original_inputs, const CallOptions& options) {
  const CallFrame call_frame(original_inputs, options.training, trains_by_itself(*this));
  if (call_frame.is_outermost()) LayerAccess::forget_losses(*this);
  const ProgramScope scope(name_);
  const Running running(kKind, name_, info() ? info()->name : std::string_view(),
                        info() ? info()->plugin : std::string_view());
  ObservedCall observed_call(*this);
  check_tensors(name_, original_inputs);
  LayerAccess::check_input_count(*this, original_inputs.size());
  check_specs(input_specs_, name_, original_inputs);
  if (!built_) {
    const FirstCallScope first_call_scope(first_call_, options);
    build_for(shapes_of(original_inputs));
    check_specs(input_specs_, name_, original_inputs);
  }
  if (options.masks.size() > original_inputs.size())
    fail("expected at most a mask an input, got ", options.masks.size(), " masks for ",
         original_inputs.size(), " inputs");
  Tensors inputs = with_masks(original_inputs, options.masks);
  if (autocast_) LayerAccess::cast_to_compute_dtype(*this, inputs);
  const Tensors masks = masks_of(inputs);
  Call call{call_frame.training(), reads_masks() ? masks : Tensors(),
            with_defaults(call_arguments(), options.arguments), options.structure};
  if (reads_masks() && !options.masks.empty()) call.arguments.set(kExplicitMask, true);
  if (!takes_structures() && !call.structure.is_null() &&
      leaves_of(call.structure).size() != tensor_count(call.structure))
    fail("expected every input, got ", structure_text(call.structure),
         "; only layers of one's own take inputs that are not there");
  output_structure_ = Value();
  Tensors outputs = LayerAccess::call(*this, inputs, call);
  for (const Tensor& t : outputs)
    if (activity_regularizer_)
      add_loss(blaming(*activity_regularizer_,
                       [&] { return activity_loss(*activity_regularizer_, t); }));
  LayerAccess::attach_masks(*this, inputs, masks, outputs);
  observed_call.set_outputs(outputs);
  return outputs;
}

Tensors Layer::operator()(const Tensors& inputs, const CallOptions& options) {
  LayerAccess::ensure_name(*this);
  return LayerAccess::with_name_in_errors(*this, [&] {
    if (options.arguments.empty()) return run(inputs, options);
    Tensors all_inputs = inputs;
    CallOptions call_options = options;
    arrange_arguments(*this, call_options.arguments, all_inputs);
    if (Tensors masks = take_masks(call_options.arguments); !masks.empty())
      call_options.masks = std::move(masks);
    return run(all_inputs, call_options);
  });
}

Tensor Layer::operator()(const Tensor& input, const CallOptions& options) {
  Tensors outputs = (*this)(Tensors{input}, options);
  if (outputs.size() != 1)
    fail_in_layer(name_, "Layer ", name_, " has ", outputs.size(),
                  " outputs where one was expected");
  return std::move(outputs.front());
}

std::vector<Symbol> Layer::operator()(const std::vector<Symbol>& inputs,
                                      const CallOptions& options) {
  LayerAccess::ensure_name(*this);
  const auto node = LayerAccess::make_node();
  node->outbound_layer = std::static_pointer_cast<Layer>(weak_from_this().lock());
  if (!node->outbound_layer)
    fail_in_layer(name_, "Layer ", name_,
                  " can only be called on symbols when a shared pointer holds it");
  node->inputs = inputs;
  node->training = options.training;
  node->arguments = options.arguments;
  node->structure = nested_or_null(options.structure);
  LayerAccess::with_name_in_errors(
      *this, [&] { arrange_arguments(*this, node->arguments, node->inputs); });
  for (const Symbol& s : symbols_in(node->arguments)) {
    node->inputs.push_back(s);
    ++node->argument_inputs;
  }
  Tensors abstract_inputs;
  for (const Symbol& s : node->inputs) {
    if (!s)
      fail_in_layer(name_, "Layer ", name_,
                    " was called with an input that isn't a symbolic tensor.");
    abstract_inputs.push_back(s.abstract());
  }
  for (const Tensor& mask : options.masks)
    if (mask)
      fail_in_layer(
          name_, "Layer ", name_,
          ": the inputs are symbols, so a mask must be one too: arguments = {mask = ...}");
  node->outputs = LayerAccess::recorded_outputs(*this, *node, abstract_inputs);
  if (node->outputs.empty()) {
    node->outputs = run_with_unknown_sizes(
        *this, [&](const Tensors& tensors) { return call_again(*node, tensors, {}); },
        abstract_inputs);
    LayerAccess::forget_losses(*this);
  }
  node->output_structure = nested_or_null(output_structure_);
  LayerAccess::add_node(node);
  return node->output_symbols(node);
}

Symbol Layer::operator()(const Symbol& input, const CallOptions& options) {
  std::vector<Symbol> outputs = (*this)(std::vector<Symbol>{input}, options);
  if (outputs.size() != 1)
    fail_in_layer(name_, "Layer ", name_, " has ", outputs.size(),
                  " outputs where one was expected");
  return outputs.front();
}

std::vector<Shape> Layer::compute_output_shape(const std::vector<Shape>& inputs) {
  Tensors abstract_inputs;
  for (const Shape& shape : inputs)
    abstract_inputs.push_back(Tensor::abstract({compute_dtype(), shape}));
  const Tensors outputs = run_with_unknown_sizes(
      *this, [&](const Tensors& tensors) { return (*this)(tensors, CallOptions{}); },
      abstract_inputs);
  LayerAccess::forget_losses(*this);
  return shapes_of(outputs);
}

Tensors Layer::get_losses_for(const std::vector<Symbol>& inputs) const {
  Tensors losses;
  if (inputs.empty()) {
    for (const Variable& v : trainable_weights())
      if (v.regularizer())
        losses.push_back(blaming(*v.regularizer(), [&] { return (*v.regularizer())(v.value()); }));
    return losses;
  }
  // const_cast, because the call below changes the losses that the layer collects
  Layer& self = const_cast<Layer&>(*this);
  Tensors abstract_inputs;
  for (const Symbol& s : inputs) abstract_inputs.push_back(s.abstract());
  run_with_unknown_sizes(
      self,
      [&](const Tensors& tensors) {
        self(tensors, CallOptions{});
        losses.clear();
        for (Layer* nested_layer : self.flatten_layers())
          losses.insert(losses.end(), nested_layer->call_losses_.begin(),
                        nested_layer->call_losses_.end());
        return Tensors{};
      },
      abstract_inputs);
  LayerAccess::forget_losses(self);
  return losses;
}

}  // namespace crescent
