#include "crescent/model/surgery.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "layer/input_layer.h"
#include "layer/layer_access.h"
#include "model/graph.h"
#include "model/layer_changes.h"
#include "model/rewiring.h"
#include "training/state/training.h"

namespace crescent {
namespace {

using Layers = std::vector<LayerPtr>;
using Graph = ModelAccess::Graph;

/// The layer with this name, which may be an input layer; null if there is none.
LayerPtr find_layer(const Model& model, std::string_view name) {
  for (const Layers& candidates : {model.operations(), model.sublayers()})
    for (const LayerPtr& layer : candidates)
      if (layer->name() == name) return layer;
  return nullptr;
}

std::shared_ptr<const Graph> graph_of(const Model& model) {
  return ModelAccess::make_graph({model.inputs(), model.outputs()});
}

std::vector<NodePtr> calls_of(const Layer& layer, const Model& model) {
  const std::shared_ptr<const Graph> graph = graph_of(model);
  std::vector<NodePtr> calls;
  for (const Graph::Call& call : graph->calls)
    if (call.node->outbound_layer.get() == &layer) calls.push_back(call.node);
  return calls;
}

bool is_input(const Layer& layer) { return dynamic_cast<const InputLayer*>(&layer) != nullptr; }

/// A Sequential of these layers whose input is that of `model`.
std::shared_ptr<Functional> stacked_model(const Sequential& model, Layers layers) {
  const bool has_input = model.is_graph(),
             on_first_data = has_input && model.get_config().contains("build_input_shape");
  if (has_input && !on_first_data) layers.insert(layers.begin(), model.inputs().front().layer());
  const auto new_model = Sequential::make(layers, model.name());
  if (on_first_data) new_model->build_for({model.inputs().front().shape()});
  LayerAccess::set_own_trainable(*new_model, LayerAccess::own_trainable(model));
  return new_model;
}

/// Whether a weight can take the values of another: quantized weights cannot, because their scales
/// differ.
bool is_same_spec(const Variable& from, const Variable& to) {
  const bool are_both_float = is_floating(from.dtype()) && is_floating(to.dtype());
  return from.name() == to.name() && from.shape() == to.shape() &&
         (are_both_float || from.dtype() == to.dtype());
}

/// Copies the values of matching weights; returns the number of weights copied.
size_t copy_weights(const Layer& from, const Layer& to) {
  Variables remaining_weights = from.weights_in_keras_order();
  size_t count = 0;
  for (const Variable& weight : to.weights_in_keras_order()) {
    const auto old = std::find_if(remaining_weights.begin(), remaining_weights.end(),
                                  [&](const Variable& v) { return is_same_spec(v, weight); });
    if (old == remaining_weights.end()) continue;
    weight.assign(ops::cast(old->value(), weight.dtype()));
    remaining_weights.erase(old);
    ++count;
  }
  return count;
}

/// An operation on a layer of the model itself (not of a nested model).
using LayerOperation = std::function<SurgeryResult(const Model&, const LayerPtr&)>;

SurgeryResult finished(const Model& before, std::shared_ptr<Functional> after,
                       const ChangedLayers& changed) {
  carry_training(before, *after);
  std::vector<LayerChange> changes = changes_between(before, *after, changed);
  return {std::move(after), std::move(changes)};
}

std::shared_ptr<Functional> exchanged(const Model& model, const GraphEdit& edit,
                                      const LayerPtr& old, const LayerPtr& by) {
  const auto* stack = dynamic_cast<const Sequential*>(&model);
  if (!stack) {
    GraphEdit exchange = edit;
    exchange.replacements = {{old, by}};
    return edited(model, exchange, model.name());
  }
  Layers layers = stack->layers();
  if (by)
    std::replace(layers.begin(), layers.end(), old, by);
  else
    std::erase(layers, old);
  return stacked_model(*stack, std::move(layers));
}

/// Rebuilds the model after a model nested in it was changed.
SurgeryResult rebuilt_around(const Model& model, const LayerPtr& nested, SurgeryResult inner,
                             const char* verb) {
  const auto new_model = exchanged(model, {.verb = verb}, nested, inner.model);
  for (LayerChange& change : inner.changes) change.layer = nested->name() + "/" + change.layer;
  SurgeryResult outer_result =
      finished(model, new_model, {.old = nested, .replacement = inner.model});
  inner.changes.insert(inner.changes.end(), outer_result.changes.begin(),
                       outer_result.changes.end());
  return {outer_result.model, std::move(inner.changes)};
}

/// Applies `operation` to the layer at this path, which may lead through nested models.
SurgeryResult at_path(const Model& model, const std::string& path, const char* verb,
                      const LayerOperation& operation) {
  if (const LayerPtr layer = find_layer(model, path)) return operation(model, layer);
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const LayerPtr layer = find_layer(model, path.substr(0, slash));
    const auto* nested_model = dynamic_cast<const Functional*>(layer.get());
    if (nested_model)
      return rebuilt_around(model, layer,
                            at_path(*nested_model, path.substr(slash + 1), verb, operation), verb);
  }
  model.get_layer(path);  // fails with a list of the layers' names
  return {};
}

/// Runs `operation`; messages of its errors name the operation and the layer.
template <class F>
SurgeryResult with_context(const char* verb, const Model& model, const std::string& path,
                           const F& operation) {
  try {
    return operation();
  } catch (Error& error) {
    const std::string prefix = concat(verb, ": ");
    if (!std::string_view(error.what()).starts_with(prefix))
      error.add_context(concat(prefix, "model ", model.name(), ", '", path, "': "));
    throw;
  }
}

Layers inserted(const Layers& layers, const LayerPtr& old, const LayerPtr& next) {
  Layers extended_layers;
  if (is_input(*old)) extended_layers.push_back(next);
  for (const LayerPtr& layer : layers) {
    extended_layers.push_back(layer);
    if (layer == old) extended_layers.push_back(next);
  }
  return extended_layers;
}

std::shared_ptr<Functional> insert_after_input(const Model& model, const LayerPtr& input,
                                               const LayerPtr& next) {
  const Symbol edge = static_cast<const InputLayer&>(*input).symbol();
  GraphEdit edit{.verb = "insert_after", .inputs = model.inputs()};
  edit.replacements = {{edge, (*next)(edge)}};
  return edited(model, edit, model.name());
}

void check_one_output(const Layer& layer, const Model& model) {
  if (!model.is_graph()) return;
  for (const NodePtr& call : calls_of(layer, model))
    if (call->outputs.size() != 1)
      fail("insert_after: layer '", layer.name(), "' (", layer.class_name(), ") has ",
           call->outputs.size(), " outputs, and what follows which is not known; use rewire");
}

std::shared_ptr<Functional> insert_after_layer(const Model& model, const LayerPtr& layer,
                                               const LayerPtr& next) {
  check_one_output(*layer, model);
  if (const auto* stack = dynamic_cast<const Sequential*>(&model))
    return stacked_model(*stack, inserted(stack->layers(), layer, next));
  if (is_input(*layer)) return insert_after_input(model, layer, next);
  return edited(model, {.verb = "insert_after", .layer = layer, .next_layer = next}, model.name());
}

void check_removable(const Layer& layer, const Model& model) {
  if (is_input(layer))
    fail("remove: '", layer.name(), "' is an input of model ", model.name(),
         "; rebase puts others in the place of inputs");
  if (!model.is_graph()) return;
  for (const NodePtr& call : calls_of(layer, model))
    if (call->inputs.size() != 1 || call->outputs.size() != 1)
      fail("remove: layer '", layer.name(), "' (", layer.class_name(), ") makes ",
           call->outputs.size(), " of ", call->inputs.size(),
           " tensors, and which of them would go on is not known; replace it, or use rewire");
}

/// Returns the inputs on which these edges depend, in order of discovery.
std::vector<Symbol> inputs_behind(const std::vector<Symbol>& edges) {
  std::vector<Symbol> inputs, waiting_symbols(edges.rbegin(), edges.rend());
  std::unordered_set<const Node*> visited;
  while (!waiting_symbols.empty()) {
    const Symbol edge = waiting_symbols.back();
    waiting_symbols.pop_back();
    if (!visited.insert(edge.node().get()).second) continue;
    if (is_input(*edge.layer())) inputs.push_back(edge);
    const std::vector<Symbol>& call_inputs = edge.node()->inputs;
    waiting_symbols.insert(waiting_symbols.end(), call_inputs.rbegin(), call_inputs.rend());
  }
  return inputs;
}

/// Returns those of `inputs` that are also in `needed`.
std::vector<Symbol> only_needed(std::vector<Symbol> inputs, const std::vector<Symbol>& needed) {
  std::erase_if(inputs, [&](const Symbol& input) {
    return std::find(needed.begin(), needed.end(), input) == needed.end();
  });
  return inputs;
}

/// Returns the call of a layer in the model; fails if there are several.
NodePtr only_call(const Model& model, const std::string& name) {
  const LayerPtr layer = model.get_layer(name);
  const std::vector<NodePtr> calls = calls_of(*layer, model);
  if (calls.size() != 1)
    fail("cut: layer '", name, "' is called ", calls.size(), " times in model ", model.name(),
         ": make a model of the symbols, cr.Model(inputs, outputs)");
  return calls.front();
}

std::vector<Symbol> outputs_at(const Model& model, const std::string& path);

/// Returns the outputs of a layer in a nested model as edges at which a new model can end.
std::vector<Symbol> outputs_inside(const Model& model, const LayerPtr& nested,
                                   const std::string& inner_path) {
  const SurgeryResult piece = cut(dynamic_cast<const Model&>(*nested), "", {inner_path});
  const std::vector<Symbol> model_inputs = dynamic_cast<const Model&>(*nested).inputs(),
                            piece_inputs = piece.model->inputs();
  const NodePtr call = only_call(model, nested->name());
  std::vector<Symbol> call_inputs;
  for (size_t i = 0; i < model_inputs.size(); ++i)
    if (std::find(piece_inputs.begin(), piece_inputs.end(), model_inputs[i]) != piece_inputs.end())
      call_inputs.push_back(call->inputs[i]);
  return (*piece.model)(call_inputs);
}

std::vector<Symbol> outputs_at(const Model& model, const std::string& path) {
  if (const LayerPtr layer = find_layer(model, path)) {
    if (is_input(*layer)) return {static_cast<const InputLayer&>(*layer).symbol()};
    const NodePtr call = only_call(model, path);
    return call->output_symbols(call);
  }
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const LayerPtr layer = find_layer(model, path.substr(0, slash));
    if (dynamic_cast<const Functional*>(layer.get()))
      return outputs_inside(model, layer, path.substr(slash + 1));
  }
  model.get_layer(path);  // fails with a list of the layers' names
  return {};
}

/// Returns an edit in which new inputs of the model replace the inputs of a layer.
GraphEdit edit_with_new_inputs(const Model& model, const std::string& from) {
  GraphEdit edit{.verb = "cut"};
  for (const Symbol& edge : only_call(model, from)->inputs) {
    const auto replacement =
        std::find_if(edit.replacements.begin(), edit.replacements.end(),
                     [&](const Replacement& r) { return std::get<Symbol>(r.old) == edge; });
    if (replacement != edit.replacements.end()) continue;
    edit.inputs.push_back(input_like(edge));
    edit.replacements.push_back({edge, edit.inputs.back()});
  }
  return edit;
}

std::shared_ptr<Functional> cut_graph(const Model& model, const std::string& from,
                                      const std::vector<std::string>& to) {
  GraphEdit edit = from.empty() ? GraphEdit{.verb = "cut"} : edit_with_new_inputs(model, from);
  for (const std::string& path : to)
    for (const Symbol& output : outputs_at(model, path)) edit.outputs.push_back(output);
  if (from.empty())
    edit.inputs =
        only_needed(model.inputs(), inputs_behind(to.empty() ? model.outputs() : edit.outputs));
  return edited(model, edit, to.empty() ? model.name() : "");
}

/// The inputs of a model by name and shape.
std::string inputs_text(const Model& model) {
  std::vector<std::string> texts;
  for (const Symbol& input : model.inputs())
    texts.push_back(concat(input.layer()->name(), " ", input.shape()));
  return join(texts);
}

bool are_inputs(const std::vector<Symbol>& symbols) {
  return std::all_of(symbols.begin(), symbols.end(),
                     [](const Symbol& s) { return is_input(*s.layer()); });
}

std::shared_ptr<Functional> on_inputs(const Model& model, const std::vector<Symbol>& inputs) {
  const auto* stack = dynamic_cast<const Sequential*>(&model);
  if (stack && inputs.size() == 1 && are_inputs(inputs)) {
    Layers layers = stack->layers();
    layers.insert(layers.begin(), inputs.front().layer());
    return Sequential::make(layers, model.name());
  }
  const std::vector<Symbol> old = model.inputs();
  if (inputs.size() != old.size())
    fail("rebase: model ", model.name(), " has ", old.size(), " inputs (", inputs_text(model),
         "), got ", inputs.size());
  GraphEdit edit{.verb = "rebase", .inputs = inputs_behind(inputs)};
  for (size_t i = 0; i < old.size(); ++i) edit.replacements.push_back({old[i], inputs[i]});
  return edited(model, edit, model.name());
}

}  // namespace

SurgeryResult insert_after(const Model& model, const std::string& path, const LayerPtr& next) {
  if (!next) fail("insert_after: expected a layer, got none");
  const bool was_built = next->built();
  return with_context("insert_after", model, path, [&] {
    return at_path(model, path, "insert_after", [&](const Model& inner, const LayerPtr& layer) {
      return finished(inner, insert_after_layer(inner, layer, next),
                      {.inserted_layer = next, .was_built = was_built});
    });
  });
}

SurgeryResult replace_layer(const Model& model, const std::string& path, const LayerPtr& by,
                            bool carry_weights) {
  if (!by) fail("replace: expected a layer, got none; remove leaves one out");
  const bool was_built = by->built();
  return with_context("replace", model, path, [&] {
    return at_path(model, path, "replace", [&](const Model& inner, const LayerPtr& layer) {
      const auto new_model = exchanged(inner, {.verb = "replace"}, layer, by);
      const size_t copied_weights = carry_weights && !was_built ? copy_weights(*layer, *by) : 0;
      return finished(
          inner, new_model,
          {.inserted_layer = by, .copied_weights = copied_weights, .was_built = was_built});
    });
  });
}

SurgeryResult remove_layer(const Model& model, const std::string& path) {
  return with_context("remove", model, path, [&] {
    return at_path(model, path, "remove", [&](const Model& inner, const LayerPtr& layer) {
      check_removable(*layer, inner);
      return finished(inner, exchanged(inner, {.verb = "remove"}, layer, nullptr), {});
    });
  });
}

SurgeryResult cut(const Model& model, const std::string& from, const std::vector<std::string>& to) {
  return with_context("cut", model, from.empty() ? join(to) : concat(from, " ... ", join(to)), [&] {
    const std::shared_ptr<Functional> cut_model = cut_graph(model, from, to);
    if (to.empty()) carry_training(model, *cut_model);
    return SurgeryResult{cut_model, changes_between(model, *cut_model, {})};
  });
}

SurgeryResult rebase(const Model& model, const std::vector<Symbol>& inputs) {
  return with_context("rebase", model, "inputs",
                      [&] { return finished(model, on_inputs(model, inputs), {}); });
}

}  // namespace crescent
