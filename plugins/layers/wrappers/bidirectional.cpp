// Bidirectional runs two copies of a recurrent layer, made from the layer's configuration, over a
// sequence in both directions.
#include "crescent/registry/registration.h"
#include "wrapper.h"

namespace crescent {
namespace {

/// The configuration {class_name, config} of a layer. Options can be changed before the layer is
/// made from it.
class LayerConfig {
 public:
  explicit LayerConfig(const Layer& layer) : object_(serialize(&layer).as_dict()) {}
  const Value* find(std::string_view option) const { return config().find(option); }
  bool flag(std::string_view option) const {
    const Value* value = find(option);
    return value && value->is_bool() && value->as_bool();
  }
  void set(std::string_view option, Value value) {
    object_["config"].as_dict().set(option, std::move(value));
  }
  LayerPtr make() const { return get<Layer>(Value(object_)); }

 private:
  const Dict& config() const { return object_.at("config").as_dict(); }
  Dict object_;
};

/// Sets the option by which a layer that returns sequences outputs zeros at masked steps, as in
/// Keras 3, because the outputs of both directions are merged at each step.
void zero_masked_steps(LayerConfig& layer) {
  if (layer.find("zero_output_for_mask"))
    layer.set("zero_output_for_mask", layer.flag("return_sequences"));
}

std::string without_prefix(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

class Bidirectional final : public BaseWrapper {
 public:
  static void describe(Schema<Bidirectional>& s) {
    s.doc(
        "Runs a recurrent layer over the steps in both directions and merges the outputs. (batch, "
        "time, ...) -> the output of the layer, merged");
    describe_layer(s);
    s.field("merge_mode", &Bidirectional::merge_mode_,
            "How the two outputs are merged; null: both are returned.")
        .choices({"sum", "mul", "ave", "concat"})
        .field("backward_layer", &Bidirectional::backward_layer_option_,
               "The layer of the backward direction; null: a reversed copy of `layer`.")
        .kind("layer")
        .keyword_only(true)
        .field("mask_with_states", &Bidirectional::mask_with_states_, "As in the wrapped layers.")
        .keyword_only(false)
        .input("initial_state", 1,
               "The initial states: those of the forward layer, then those of the backward layer.")
        .property(
            "forward_layer", [](Bidirectional& b) { return b.layer(); },
            "The layer that runs from the first step to the last.")
        .property("backward_layer", &Bidirectional::backward_layer_,
                  "The layer that runs from the last step to the first.")
        .method("reset_state", &Bidirectional::reset_states, "Sets the states to zero.");
  }
  void configured() override {
    Layer::configured();
    set_supports_masking(true);
    BaseWrapper::configured();
    make_forward();
    make_backward();
    check_directions();
  }
  InputCount input_count() const override { return {.min = 1}; }
  void build(const std::vector<Shape>& inputs) override {
    layer()->build_for(inputs_of_direction(inputs, 0));
    backward_layer_->build_for(inputs_of_direction(inputs, 1));
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    CallOptions options;
    if (mask_with_states_ || call.flag("mask")) options.masks = {call.mask()};
    Tensors forward = (*layer())(inputs_of_direction(inputs, 0), options),
            backward = (*backward_layer_)(inputs_of_direction(inputs, 1), options);
    if (return_sequences_) backward[0] = ops::flip(backward[0], {1});
    Tensors outputs = merge_mode_ ? Tensors{merge_outputs(forward[0], backward[0])}
                                  : Tensors{forward[0], backward[0]};
    for (const Tensors& direction_outputs : {forward, backward})
      outputs.insert(outputs.end(), direction_outputs.begin() + 1, direction_outputs.end());
    return outputs;
  }
  Tensors compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) override {
    Tensors result(outputs.size());
    const size_t sequence_count = merge_mode_ ? 1 : 2;
    for (size_t i = 0; return_sequences_ && !masks.empty() && i < sequence_count; ++i)
      result[i] = masks[0];
    return result;
  }
  bool stateful() const override { return layer()->stateful(); }
  void reset_states() override {
    layer()->reset_states();
    backward_layer_->reset_states();
  }
  Dict get_config() const override {
    Dict config = BaseWrapper::get_config();
    config.set("backward_layer", serialize(backward_layer_.get()));
    return config;
  }

 private:
  void make_forward() {
    LayerConfig layer_config(*layer());
    for (const char* option : {"go_backwards", "return_sequences"})
      if (!layer_config.find(option))
        fail("expected a recurrent layer such as LSTM, which has the option '", option, "', got ",
             layer()->class_name());
    return_sequences_ = layer_config.flag("return_sequences");
    layer_config.set("name", "forward_" + without_prefix(layer()->name(), "forward_"));
    zero_masked_steps(layer_config);
    set_layer(layer_config.make());
  }
  void make_backward() {
    LayerConfig layer_config(backward_layer_option_.is_null()
                                 ? *layer()
                                 : *layer_from("Bidirectional", backward_layer_option_));
    if (backward_layer_option_.is_null()) {
      layer_config.set("go_backwards", !layer_config.flag("go_backwards"));
      layer_config.set("name", "backward_" + without_prefix(layer()->name(), "forward_"));
    }
    zero_masked_steps(layer_config);
    if (backward_layer_) untrack(backward_layer_);
    backward_layer_ = layer_config.make();
    track(backward_layer_);
  }
  void check_directions() const {
    const LayerConfig forward(*layer()), backward(*backward_layer_);
    if (forward.flag("go_backwards") == backward.flag("go_backwards"))
      fail(
          "Forward layer and backward layer should have different `go_backwards` value. Received: "
          "forward_layer.go_backwards=",
          Value(forward.flag("go_backwards")));
    for (const char* option : {"stateful", "return_sequences", "return_state"})
      if (forward.flag(option) != backward.flag(option))
        fail(
            "Forward layer and backward layer are expected to have the same value for attribute "
            "\"",
            option, "\", got ", Value(forward.flag(option)), " for forward layer and ",
            Value(backward.flag(option)), " for backward layer");
  }

  /// The inputs of the layer of one direction: the sequence, and half of the initial states.
  template <class T>
  static std::vector<T> inputs_of_direction(const std::vector<T>& inputs, size_t direction_index) {
    const size_t state_count = inputs.size() - 1, half = state_count / 2;
    if (state_count % 2 != 0)
      fail(
          "When passing `initial_state` to a Bidirectional RNN, the state should be a list "
          "containing the states of the underlying RNNs. Found ",
          state_count, " states");
    std::vector<T> result{inputs[0]};
    const auto first_state =
        inputs.begin() + static_cast<std::ptrdiff_t>(1 + direction_index * half);
    result.insert(result.end(), first_state, first_state + static_cast<std::ptrdiff_t>(half));
    return result;
  }
  Tensor merge_outputs(const Tensor& forward, const Tensor& backward) const {
    if (*merge_mode_ == "concat") return ops::concatenate(Tensors{forward, backward}, -1);
    if (*merge_mode_ == "mul") return forward * backward;
    const Tensor sum = forward + backward;
    return *merge_mode_ == "ave" ? sum / 2 : sum;
  }

  std::optional<std::string> merge_mode_ = "concat";
  Value backward_layer_option_;
  LayerPtr backward_layer_;
  bool return_sequences_ = false, mask_with_states_ = false;
};

}  // namespace

CRESCENT_REGISTER(bidirectional) { registry.add<Bidirectional>("Bidirectional"); }

}  // namespace crescent
