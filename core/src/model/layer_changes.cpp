#include "model/layer_changes.h"

#include <unordered_map>

#include "base/text_table.h"
#include "crescent/system/terminal.h"
#include "model/graph.h"

namespace crescent {
namespace {

using ShapesOfLayers = std::unordered_map<const Layer*, std::vector<Shape>>;

/// The output shapes of each call of each layer in this model.
ShapesOfLayers shapes_in(const Model& model) {
  ShapesOfLayers shapes;
  if (!model.is_graph()) return shapes;
  const auto graph = ModelAccess::make_graph({model.inputs(), model.outputs()});
  for (const Symbol& input : graph->inputs) shapes[input.layer().get()].push_back(input.shape());
  for (const auto& call : graph->calls)
    for (const Tensor& output : call.node->outputs)
      shapes[call.node->outbound_layer.get()].push_back(output.shape());
  return shapes;
}

/// The layers of a model, including the input layer of a Sequential.
std::vector<LayerPtr> all_layers(const Model& model) {
  std::vector<LayerPtr> layers = model.operations();
  if (dynamic_cast<const Sequential*>(&model) && model.is_graph())
    layers.insert(layers.begin(), model.inputs().front().layer());
  return layers;
}

LayerPtr layer_named(const std::vector<LayerPtr>& layers, const std::string& name) {
  for (const LayerPtr& layer : layers)
    if (layer->name() == name) return layer;
  return nullptr;
}

std::string count_text(size_t count, const char* word) {
  return count == 0 ? "" : concat(count, " ", word);
}

std::string weights_of_inserted(const Layer& layer, const ChangedLayers& changed_layers) {
  const size_t weight_count = layer.weights().size();
  if (changed_layers.inserted_was_built) return count_text(weight_count, "its own");
  const std::string carried_text = count_text(changed_layers.copied_weight_count, "carried"),
                    new_count_text =
                        count_text(weight_count - changed_layers.copied_weight_count, "new");
  return carried_text + (carried_text.empty() || new_count_text.empty() ? "" : ", ") +
         new_count_text;
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes)
    if (texts.empty() || texts.back() != to_text(shape)) texts.push_back(to_text(shape));
  return join(texts);
}

}  // namespace

std::vector<LayerChange> changes_between(const Model& old_model, const Model& new_model,
                                         const ChangedLayers& changed_layers) {
  const std::vector<LayerPtr> old_layers = all_layers(old_model),
                              new_layers = all_layers(new_model);
  ShapesOfLayers old_shapes = shapes_in(old_model), new_shapes = shapes_in(new_model);
  std::vector<LayerChange> changes;
  for (const LayerPtr& layer : new_layers) {
    const LayerPtr old_layer = layer == changed_layers.new_nested_model
                                   ? changed_layers.old_nested_model
                                   : layer_named(old_layers, layer->name());
    const std::vector<Shape> old_layer_shapes =
                                 old_layer ? old_shapes[old_layer.get()] : std::vector<Shape>(),
                             new_layer_shapes = new_shapes[layer.get()];
    if (old_layer == layer || (layer == changed_layers.new_nested_model && old_layer)) {
      if (old_layer_shapes != new_layer_shapes)
        changes.push_back({layer->name(), "reshaped", old_layer_shapes, new_layer_shapes,
                           count_text(layer->weights().size(), "kept")});
      continue;
    }
    const std::string weights_text = layer == changed_layers.inserted_layer
                                         ? weights_of_inserted(*layer, changed_layers)
                                         : count_text(layer->weights().size(), "kept");
    changes.push_back({layer->name(), old_layer ? "replaced" : "new", old_layer_shapes,
                       new_layer_shapes, weights_text});
  }
  for (const LayerPtr& old_layer : old_layers)
    if (!layer_named(new_layers, old_layer->name()))
      changes.push_back({old_layer->name(),
                         "removed",
                         old_shapes[old_layer.get()],
                         {},
                         count_text(old_layer->weights().size(), "dropped")});
  return changes;
}

std::vector<std::string> change_lines(const std::vector<LayerChange>& changes) {
  TextTable table({{"Layer"}, {"Change"}, {"Before"}, {"After"}, {"Weights"}});
  for (const LayerChange& layer_change : changes)
    table.add({layer_change.layer, layer_change.change, shapes_text(layer_change.before),
               shapes_text(layer_change.after), layer_change.weights});
  return table.lines(fitting_columns(100, 40));
}

}  // namespace crescent
