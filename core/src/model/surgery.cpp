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

/// Makes a Sequential of these layers that has the input of `model`.
std::shared_ptr<Functional> stacked_model(const Sequential& model, Layers layers) {
  const bool has_input = model.is_graph(),
             is_built_for_data = has_input && model.get_config().contains("build_input_shape");
  if (has_input && !is_built_for_data)
    layers.insert(layers.begin(), model.inputs().front().layer());
  const auto new_model = Sequential::make(layers, model.name());
  if (is_built_for_data) new_model->build_for({model.inputs().front().shape()});
  LayerAccess::set_trainable_flag(*new_model, LayerAccess::trainable_flag(model));
  return new_model;
}

/// Whether the values of `from` can be copied to `to`. They cannot be copied between quantized and
/// floating weights, because quantized values are multiples of a scale.
bool can_copy_values(const Variable& from, const Variable& to) {
  const bool are_both_float = is_floating(from.dtype()) && is_floating(to.dtype());
  return from.name() == to.name() && from.shape() == to.shape() &&
         (are_both_float || from.dtype() == to.dtype());
}

/// Copies the values of matching weights; returns the number of weights copied.
size_t copy_weights(const Layer& from, const Layer& to) {
  Variables remaining_weights = from.weights_in_keras_order();
  size_t count = 0;
  for (const Variable& weight : to.weights_in_keras_order()) {
    const auto old_weight =
        std::find_if(remaining_weights.begin(), remaining_weights.end(),
                     [&](const Variable& v) { return can_copy_values(v, weight); });
    if (old_weight == remaining_weights.end()) continue;
    weight.assign(ops::cast(old_weight->value(), weight.dtype()));
    remaining_weights.erase(old_weight);
    ++count;
  }
  return count;
}

/// An operation on a layer of the model itself (not of a nested model).
using LayerOperation = std::function<SurgeryResult(const Model&, const LayerPtr&)>;

SurgeryResult surgery_result(const Model& old_model, std::shared_ptr<Functional> new_model,
                             const ChangedLayers& changed_layers) {
  carry_training(old_model, *new_model);
  std::vector<LayerChange> changes = changes_between(old_model, *new_model, changed_layers);
  return {std::move(new_model), std::move(changes)};
}

std::shared_ptr<Functional> with_replaced_layer(const Model& model, const GraphEdit& edit,
                                                const LayerPtr& old_layer,
                                                const LayerPtr& new_layer) {
  const auto* sequential = dynamic_cast<const Sequential*>(&model);
  if (!sequential) {
    GraphEdit replacing_edit = edit;
    replacing_edit.replacements = {{old_layer, new_layer}};
    return edited_model(model, replacing_edit, model.name());
  }
  Layers layers = sequential->layers();
  if (new_layer)
    std::replace(layers.begin(), layers.end(), old_layer, new_layer);
  else
    std::erase(layers, old_layer);
  return stacked_model(*sequential, std::move(layers));
}

/// Makes a new model in which the model of `nested_result` replaces `nested_model`.
SurgeryResult rebuilt_around(const Model& model, const LayerPtr& nested_model,
                             SurgeryResult nested_result, const char* function_name) {
  const auto new_model = with_replaced_layer(model, {.function_name = function_name}, nested_model,
                                             nested_result.model);
  for (LayerChange& change : nested_result.changes)
    change.layer = nested_model->name() + "/" + change.layer;
  SurgeryResult outer_result =
      surgery_result(model, new_model,
                     {.old_nested_model = nested_model, .new_nested_model = nested_result.model});
  nested_result.changes.insert(nested_result.changes.end(), outer_result.changes.begin(),
                               outer_result.changes.end());
  return {outer_result.model, std::move(nested_result.changes)};
}

/// Applies `operation` to the layer at this path, which may lead through nested models.
SurgeryResult apply_at_path(const Model& model, const std::string& path, const char* function_name,
                            const LayerOperation& operation) {
  if (const LayerPtr layer = find_layer(model, path)) return operation(model, layer);
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const LayerPtr layer = find_layer(model, path.substr(0, slash));
    const auto* nested_model = dynamic_cast<const Functional*>(layer.get());
    if (nested_model)
      return rebuilt_around(
          model, layer,
          apply_at_path(*nested_model, path.substr(slash + 1), function_name, operation),
          function_name);
  }
  model.get_layer(path);  // fails with a list of the layers' names
  return {};
}

/// Runs `operation`; messages of its errors name the operation and the layer.
template <class F>
SurgeryResult with_context(const char* function_name, const Model& model, const std::string& path,
                           const F& operation) {
  try {
    return operation();
  } catch (Error& error) {
    const std::string prefix = concat(function_name, ": ");
    if (!std::string_view(error.what()).starts_with(prefix))
      error.add_context(concat(prefix, "model ", model.name(), ", '", path, "': "));
    throw;
  }
}

Layers with_inserted_layer(const Layers& layers, const LayerPtr& old_layer, const LayerPtr& next) {
  Layers extended_layers;
  if (is_input(*old_layer)) extended_layers.push_back(next);
  for (const LayerPtr& layer : layers) {
    extended_layers.push_back(layer);
    if (layer == old_layer) extended_layers.push_back(next);
  }
  return extended_layers;
}

std::shared_ptr<Functional> insert_after_input(const Model& model, const LayerPtr& input,
                                               const LayerPtr& next) {
  const Symbol edge = static_cast<const InputLayer&>(*input).symbol();
  GraphEdit edit{.function_name = "insert_after", .inputs = model.inputs()};
  edit.replacements = {{edge, (*next)(edge)}};
  return edited_model(model, edit, model.name());
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
  if (const auto* sequential = dynamic_cast<const Sequential*>(&model))
    return stacked_model(*sequential, with_inserted_layer(sequential->layers(), layer, next));
  if (is_input(*layer)) return insert_after_input(model, layer, next);
  return edited_model(model, {.function_name = "insert_after", .layer = layer, .next_layer = next},
                      model.name());
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
std::vector<Symbol> input_dependencies(const std::vector<Symbol>& edges) {
  std::vector<Symbol> inputs, waiting_symbols(edges.rbegin(), edges.rend());
  std::unordered_set<const Node*> visited_nodes;
  while (!waiting_symbols.empty()) {
    const Symbol edge = waiting_symbols.back();
    waiting_symbols.pop_back();
    if (!visited_nodes.insert(edge.node().get()).second) continue;
    if (is_input(*edge.layer())) inputs.push_back(edge);
    const std::vector<Symbol>& call_inputs = edge.node()->inputs;
    waiting_symbols.insert(waiting_symbols.end(), call_inputs.rbegin(), call_inputs.rend());
  }
  return inputs;
}

/// Returns those of `inputs` that are also in `needed_inputs`.
std::vector<Symbol> intersection_of(std::vector<Symbol> inputs,
                                    const std::vector<Symbol>& needed_inputs) {
  std::erase_if(inputs, [&](const Symbol& input) {
    return std::find(needed_inputs.begin(), needed_inputs.end(), input) == needed_inputs.end();
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
std::vector<Symbol> outputs_in_nested_model(const Model& model, const LayerPtr& nested_model,
                                            const std::string& inner_path) {
  const SurgeryResult submodel = cut(dynamic_cast<const Model&>(*nested_model), "", {inner_path});
  const std::vector<Symbol> model_inputs = dynamic_cast<const Model&>(*nested_model).inputs(),
                            submodel_inputs = submodel.model->inputs();
  const NodePtr call = only_call(model, nested_model->name());
  std::vector<Symbol> call_inputs;
  for (size_t i = 0; i < model_inputs.size(); ++i)
    if (std::find(submodel_inputs.begin(), submodel_inputs.end(), model_inputs[i]) !=
        submodel_inputs.end())
      call_inputs.push_back(call->inputs[i]);
  return (*submodel.model)(call_inputs);
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
      return outputs_in_nested_model(model, layer, path.substr(slash + 1));
  }
  model.get_layer(path);  // fails with a list of the layers' names
  return {};
}

/// Returns an edit in which new inputs of the model replace the inputs of a layer.
GraphEdit edit_with_new_inputs(const Model& model, const std::string& from) {
  GraphEdit edit{.function_name = "cut"};
  for (const Symbol& edge : only_call(model, from)->inputs) {
    const auto replacement =
        std::find_if(edit.replacements.begin(), edit.replacements.end(),
                     [&](const Replacement& replacement_of_edge) {
                       return std::get<Symbol>(replacement_of_edge.old_element) == edge;
                     });
    if (replacement != edit.replacements.end()) continue;
    edit.inputs.push_back(input_like(edge));
    edit.replacements.push_back({edge, edit.inputs.back()});
  }
  return edit;
}

std::shared_ptr<Functional> cut_out_model(const Model& model, const std::string& from,
                                          const std::vector<std::string>& to) {
  GraphEdit edit =
      from.empty() ? GraphEdit{.function_name = "cut"} : edit_with_new_inputs(model, from);
  for (const std::string& path : to)
    for (const Symbol& output : outputs_at(model, path)) edit.outputs.push_back(output);
  if (from.empty())
    edit.inputs = intersection_of(model.inputs(),
                                  input_dependencies(to.empty() ? model.outputs() : edit.outputs));
  return edited_model(model, edit, to.empty() ? model.name() : "");
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

std::shared_ptr<Functional> rebased_model(const Model& model, const std::vector<Symbol>& inputs) {
  const auto* sequential = dynamic_cast<const Sequential*>(&model);
  if (sequential && inputs.size() == 1 && are_inputs(inputs)) {
    Layers layers = sequential->layers();
    layers.insert(layers.begin(), inputs.front().layer());
    return Sequential::make(layers, model.name());
  }
  const std::vector<Symbol> old_inputs = model.inputs();
  if (inputs.size() != old_inputs.size())
    fail("rebase: model ", model.name(), " has ", old_inputs.size(), " inputs (",
         inputs_text(model), "), got ", inputs.size());
  GraphEdit edit{.function_name = "rebase", .inputs = input_dependencies(inputs)};
  for (size_t i = 0; i < old_inputs.size(); ++i)
    edit.replacements.push_back({old_inputs[i], inputs[i]});
  return edited_model(model, edit, model.name());
}

}  // namespace

SurgeryResult insert_after(const Model& model, const std::string& path, const LayerPtr& next) {
  if (!next) fail("insert_after: expected a layer, got none");
  const bool was_built = next->built();
  return with_context("insert_after", model, path, [&] {
    return apply_at_path(
        model, path, "insert_after", [&](const Model& parent_model, const LayerPtr& layer) {
          return surgery_result(parent_model, insert_after_layer(parent_model, layer, next),
                                {.inserted_layer = next, .inserted_was_built = was_built});
        });
  });
}

SurgeryResult replace_layer(const Model& model, const std::string& path,
                            const LayerPtr& replacement, bool carry_weights) {
  if (!replacement) fail("replace: expected a layer, got none; remove leaves one out");
  const bool was_built = replacement->built();
  return with_context("replace", model, path, [&] {
    return apply_at_path(
        model, path, "replace", [&](const Model& parent_model, const LayerPtr& layer) {
          const auto new_model =
              with_replaced_layer(parent_model, {.function_name = "replace"}, layer, replacement);
          const size_t copied_weight_count =
              carry_weights && !was_built ? copy_weights(*layer, *replacement) : 0;
          return surgery_result(parent_model, new_model,
                                {.inserted_layer = replacement,
                                 .copied_weight_count = copied_weight_count,
                                 .inserted_was_built = was_built});
        });
  });
}

SurgeryResult remove_layer(const Model& model, const std::string& path) {
  return with_context("remove", model, path, [&] {
    return apply_at_path(
        model, path, "remove", [&](const Model& parent_model, const LayerPtr& layer) {
          check_removable(*layer, parent_model);
          return surgery_result(
              parent_model,
              with_replaced_layer(parent_model, {.function_name = "remove"}, layer, nullptr), {});
        });
  });
}

SurgeryResult cut(const Model& model, const std::string& from, const std::vector<std::string>& to) {
  return with_context("cut", model, from.empty() ? join(to) : concat(from, " ... ", join(to)), [&] {
    const std::shared_ptr<Functional> cut_model = cut_out_model(model, from, to);
    if (to.empty()) carry_training(model, *cut_model);
    return SurgeryResult{cut_model, changes_between(model, *cut_model, {})};
  });
}

SurgeryResult rebase(const Model& model, const std::vector<Symbol>& inputs) {
  return with_context("rebase", model, "inputs",
                      [&] { return surgery_result(model, rebased_model(model, inputs), {}); });
}

}  // namespace crescent
