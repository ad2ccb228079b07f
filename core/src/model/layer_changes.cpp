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

std::string counted(size_t count, const char* what) {
  return count == 0 ? "" : concat(count, " ", what);
}

std::string weights_of_inserted(const Layer& layer, const ChangedLayers& changed) {
  const size_t weight_count = layer.weights().size();
  if (changed.was_built) return counted(weight_count, "its own");
  const std::string carried_text = counted(changed.copied_weights, "carried"),
                    new_count_text = counted(weight_count - changed.copied_weights, "new");
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

std::vector<LayerChange> changes_between(const Model& before, const Model& after,
                                         const ChangedLayers& changed) {
  const std::vector<LayerPtr> old_layers = all_layers(before), layers = all_layers(after);
  ShapesOfLayers old_shapes = shapes_in(before), shapes = shapes_in(after);
  std::vector<LayerChange> changes;
  for (const LayerPtr& layer : layers) {
    const LayerPtr old =
        layer == changed.replacement ? changed.old : layer_named(old_layers, layer->name());
    const std::vector<Shape> old_layer_shapes = old ? old_shapes[old.get()] : std::vector<Shape>(),
                             new_layer_shapes = shapes[layer.get()];
    if (old == layer || (layer == changed.replacement && old)) {
      if (old_layer_shapes != new_layer_shapes)
        changes.push_back({layer->name(), "reshaped", old_layer_shapes, new_layer_shapes,
                           counted(layer->weights().size(), "kept")});
      continue;
    }
    const std::string weights_text = layer == changed.inserted_layer
                                         ? weights_of_inserted(*layer, changed)
                                         : counted(layer->weights().size(), "kept");
    changes.push_back({layer->name(), old ? "replaced" : "new", old_layer_shapes, new_layer_shapes,
                       weights_text});
  }
  for (const LayerPtr& old : old_layers)
    if (!layer_named(layers, old->name()))
      changes.push_back({old->name(),
                         "removed",
                         old_shapes[old.get()],
                         {},
                         counted(old->weights().size(), "dropped")});
  return changes;
}

std::vector<std::string> change_lines(const std::vector<LayerChange>& changes) {
  TextTable table({{"Layer"}, {"Change"}, {"Before"}, {"After"}, {"Weights"}});
  for (const LayerChange& each : changes)
    table.add(
        {each.layer, each.change, shapes_text(each.before), shapes_text(each.after), each.weights});
  return table.lines(fitting_columns(100, 40));
}

}  // namespace crescent
