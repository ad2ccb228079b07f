// Declares the methods and properties that all layers have in Lua. Help texts list them too.
#include "crescent/layer/layer.h"
#include "crescent/layer/stateless.h"
#include "crescent/layer/training.h"
#include "layer/built_input_shapes.h"
#include "layer/layer_access.h"

namespace crescent {
namespace {

/// The prefix of the paths of the layer's weights: the name of the layer; nullopt until the layer
/// is built.
std::optional<std::string> path_of_weights(const Layer& layer) {
  return layer.built() ? std::optional(layer.name()) : std::nullopt;
}

/// The variables of the metrics of the layer and its sublayers.
Variables variables_of_metrics(Layer& layer) {
  Variables variables;
  for (const Layer* nested_layer : layer.flatten_layers())
    for (const auto& metric : nested_layer->metrics())
      for (const Variable& v : metric->variables()) variables.push_back(v);
  return variables;
}

/// The mode of a quantized policy, such as "int8" or "int4/128"; empty for a policy of floats.
std::string mode_of(const DTypePolicy& policy) {
  const Value config = Codec<DTypePolicy>::encode(policy);
  return config.is_dict() ? config.as_dict().at("config").as_dict().at("mode").as_string() : "";
}

/// Sets the dtype policy of later calls. Weights keep their dtypes, except that a quantized policy
/// quantizes a layer that is built.
void set_policy(Layer& layer, const Value& value) {
  const DTypePolicy policy = Codec<DTypePolicy>::decode(value);
  const std::string mode = mode_of(policy), old_mode = mode_of(layer.policy());
  if (layer.built() && !old_mode.empty() && mode != old_mode)
    fail_in_layer(layer.name(), "Layer ", layer.name(), " is quantized by ", layer.policy().name,
                  ": make a new one for the policy ", policy.name);
  if (mode.empty() || mode == old_mode || !layer.built())
    return LayerAccess::set_policy(layer, policy);
  if (!layer.info() || !layer.info()->schema.find_method("quantize"))
    fail_in_layer(layer.name(), "Layer ", layer.class_name(),
                  " does not have a `quantize` method implemented.");
  const size_t source_begin = policy.name.find(mode) + mode.size() + std::string("_from_").size();
  LayerAccess::set_policy(layer, DTypePolicy::named(policy.name.substr(source_begin)));
  const size_t slash_index = mode.find('/');
  Value config;
  if (slash_index != mode.npos)
    config = Dict{{"class_name", "Int4QuantizationConfig"},
                  {"config", Dict{{"block_size", std::stoll(mode.substr(slash_index + 1))}}}};
  layer.call_method("quantize", {{"mode", mode.substr(0, slash_index)}, {"config", config}});
}

/// The argument with which build_from_config() builds the layer again: {input_shape} or, for
/// several inputs, {input_shapes}. Null for a layer that is not built.
Value build_config(const Layer& layer) {
  const std::vector<Shape> shapes = built_input_shapes(layer);
  if (shapes.empty()) return {};
  if (shapes.size() == 1) return Dict{{"input_shape", Codec<Shape>::encode(shapes.front())}};
  return Dict{{"input_shapes", Codec<std::vector<Shape>>::encode(shapes)}};
}

/// Builds the layer for the shapes in what build_config() returned, unless it is built.
void build_from_config(Layer& layer, const Dict& config) {
  if (layer.built()) return;
  if (const Value* shape = config.find("input_shape"))
    return layer.build_for({Codec<Shape>::decode(*shape)});
  if (const Value* shapes = config.find("input_shapes"))
    return layer.build_for(Codec<std::vector<Shape>>::decode(*shapes));
  if (!config.empty())
    fail_in_layer(layer.name(), "build_from_config: expected input_shape or input_shapes, got ",
                  Value(config));
}

void describe_identity(Schema<Layer>& s) {
  s.property("name", &Layer::name, &Layer::set_name, "The name in the model and in files.")
      .property("trainable", &Layer::trainable, &Layer::set_trainable,
                "Whether training updates the weights of the layer and its sublayers.")
      .property("supports_masking", &Layer::supports_masking, &Layer::set_supports_masking,
                "Whether the layer accepts masks and passes them on.")
      .property("stateful", &Layer::stateful, "Whether the layer keeps a state between batches.")
      .property("dtype", &Layer::variable_dtype, "Dtype of the weights.")
      .property("variable_dtype", &Layer::variable_dtype, "Dtype of the weights.")
      .property("compute_dtype", &Layer::compute_dtype, "Dtype of the computation.")
      .property("input_dtype", &Layer::compute_dtype, "The dtype to which inputs are cast.")
      .property(
          "dtype_policy", [](Layer& layer) { return Value(layer.policy().name); }, &set_policy,
          "Name of the dtype policy; it can be set to a name or a policy.")
      .property("path", path_of_weights, "The prefix of the paths of the weights, once built.");
}

void describe_weights(Schema<Layer>& s) {
  s.property("weights", &Layer::weights, "All weights, the trainable ones first.")
      .property("variables", &state_variables,
                "All weights and the states of random generators, layer by layer.")
      .property("trainable_weights", &Layer::trainable_weights,
                "The weights that training updates.")
      .property("trainable_variables", &Layer::trainable_weights, "The same as trainable_weights.")
      .property("non_trainable_weights", &Layer::non_trainable_weights,
                "The weights that training does not update by gradients.")
      .property("non_trainable_variables", &non_trainable_state,
                "The variables that training does not update by gradients, with the states of "
                "random generators.")
      .property(
          "losses", &Layer::losses,
          "The losses that add_loss added in the last call, then the penalties of regularizers.")
      .property("metrics", &Layer::metrics, "The metrics added to the layer.")
      .property("metrics_variables", variables_of_metrics,
                "The states of the metrics of the layer and its sublayers.")
      .property("sublayers", &Layer::sublayers, "The layers contained in this one.")
      .method("get_weights", &Layer::get_weights, "Copies of the values of the weights.")
      .method("get_build_config", build_config,
              "The shapes for which the layer was built, for build_from_config; nil if it is not "
              "built.")
      .method("build_from_config", build_from_config,
              "Builds the layer for the shapes that get_build_config returned.")
      .arg("config", "The shapes.")
      .method("count_params", &Layer::count_params, "The number of elements of all weights.")
      .method("reset_states", &Layer::reset_states,
              "Sets the states that the layer keeps between batches to zero.")
      .method("track", static_cast<void (Layer::*)(const LayerPtr&)>(&Layer::track),
              "Registers a layer as a sublayer, so that its weights, losses and states belong to "
              "this layer.")
      .arg("layer", "The sublayer.")
      .method("untrack", &Layer::untrack, "Removes a sublayer that track registered.")
      .arg("layer", "The sublayer.");
}

}  // namespace

void Layer::describe_members(Schema<Layer>& s) {
  describe_identity(s);
  describe_weights(s);
}

}  // namespace crescent
