// Methods and properties of all layers, for Lua, help and the listing.
#include "crescent/layer/layer.h"
#include "crescent/layer/training.h"

namespace crescent {
namespace {

/// The common beginning of the paths of the layer's weights; nullopt until they are created.
std::optional<std::string> path_of_weights(const Layer& layer) {
  return layer.built() ? std::optional(layer.name()) : std::nullopt;
}

/// The variables of the metrics of the layer and its sublayers.
Variables metrics_variables_below(Layer& layer) {
  Variables all;
  for (const Layer* each : layer.flatten_layers())
    for (const auto& metric : each->metrics())
      all.insert(all.end(), metric->variables().begin(), metric->variables().end());
  return all;
}

void describe_identity(Schema<Layer>& s) {
  s.property("name", &Layer::name, &Layer::set_name, "What it is called in its model and in files.")
      .property("trainable", &Layer::trainable, &Layer::set_trainable,
                "Whether training changes its weights, and those of the layers in it.")
      .property("supports_masking", &Layer::supports_masking, &Layer::set_supports_masking,
                "Whether masks reach its call and go through it.")
      .property("stateful", &Layer::stateful, "Whether it keeps a state between batches.")
      .property("dtype", &Layer::variable_dtype, "Of its weights.")
      .property("variable_dtype", &Layer::variable_dtype, "Of its weights.")
      .property("compute_dtype", &Layer::compute_dtype, "Of what it computes with.")
      .property("input_dtype", &Layer::compute_dtype, "What its inputs are cast to.")
      .property(
          "dtype_policy", [](Layer& layer) { return layer.policy().name; },
          "The name of its dtype policy.")
      .property("path", path_of_weights, "What the paths of its weights begin with, once built.");
}

void describe_weights(Schema<Layer>& s) {
  s.property("weights", &Layer::weights, "The trainable ones first, then the others.")
      .property("variables", &Layer::weights, "The same as weights.")
      .property("trainable_weights", &Layer::trainable_weights, "Those that training changes.")
      .property("trainable_variables", &Layer::trainable_weights, "The same as trainable_weights.")
      .property("non_trainable_weights", &Layer::non_trainable_weights,
                "Those that training leaves to the layer, or alone.")
      .property("non_trainable_variables", &Layer::non_trainable_weights,
                "The same as non_trainable_weights.")
      .property("losses", &Layer::losses,
                "What add_loss added in the last call, then the penalties of regularizers.")
      .property("metrics", &Layer::metrics, "The metrics that were added to it.")
      .property("metrics_variables", metrics_variables_below,
                "The states of its metrics and of those of the layers in it.")
      .property("sublayers", &Layer::sublayers, "The layers that it holds.")
      .method("get_weights", &Layer::get_weights, "Copies of the weights' values.")
      .method("count_params", &Layer::count_params, "How many numbers the weights have.")
      .method("reset_states", &Layer::reset_states, "Sets what it keeps between batches to zero.")
      .method("track", static_cast<void (Layer::*)(const LayerPtr&)>(&Layer::track),
              "Makes a layer one of its own, so that its weights, losses and states are seen.")
      .arg("layer", "The layer.")
      .method("untrack", &Layer::untrack, "Takes such a layer out again.")
      .arg("layer", "The layer.");
}

}  // namespace

void Layer::describe_members(Schema<Layer>& s) {
  describe_identity(s);
  describe_weights(s);
}

}  // namespace crescent
