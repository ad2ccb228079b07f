// Makes a cell of a layer written by the user. The layer is called with {x, states...,
// constants...} or, like cells of Keras, with x, the list of states and the list of constants; it
// returns {output, next states...}.
#include <algorithm>

#include "rnn.h"

namespace crescent {
namespace {

// the name of the property by which classes in Lua give state_size
constexpr const char* kStateSize = "cell_state_size";

/// Whether the name of a second parameter suggests that it is the table of options that call() in
/// Lua may take, and not the states.
bool is_name_of_options(const std::string& name) {
  constexpr std::string_view kNames[] = {"args", "arguments", "kwargs", "options"};
  return name.starts_with("_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Whether call() takes the list of states as its second parameter, as in Keras, whatever this
/// parameter's name.
bool takes_list_of_states(const Layer& layer) {
  const std::vector<std::string> names = layer.positional_arguments();
  return !names.empty() && !is_name_of_options(names.front());
}

/// The sizes of the states of a layer, from its attribute or option state_size (a number or a
/// list), or from its option units.
std::vector<int64_t> state_sizes_of(Layer& layer) {
  const Dict config = layer.get_config();
  const bool has_state_input = layer.input_count().max > 1 || takes_list_of_states(layer);
  if (has_state_input && layer.info() && layer.info()->schema.find_property(kStateSize))
    if (const Value sizes = layer.get_property(kStateSize); !sizes.is_null())
      return Codec<std::vector<int64_t>>::decode(sizes);
  for (const char* option : {"state_size", "units"}) {
    const Value* sizes = config.find(option);
    if (has_state_input && sizes && !sizes->is_null())
      return Codec<std::vector<int64_t>>::decode(*sizes);
  }
  fail("cell: expected a recurrent cell such as LSTMCell, got ", layer.class_name(),
       "; a layer of one's own is a cell when it has the option or the attribute state_size");
}

List boxed(std::span<const Tensor> tensors) {
  List boxed_tensors;
  for (const Tensor& tensor : tensors) boxed_tensors.push_back(Codec<Tensor>::encode(tensor));
  return boxed_tensors;
}

class LayerCell final : public RnnCell {
 public:
  explicit LayerCell(LayerPtr layer)
      : layer_(std::move(layer)),
        takes_state_list_(takes_list_of_states(*layer_)),
        state_sizes_(state_sizes_of(*layer_)) {
    set_name(layer_->name());
  }
  size_t state_count() const override { return state_sizes_.size(); }
  std::vector<Shape> state_shapes(const Shape& x) const override {
    std::vector<Shape> shapes;
    for (int64_t size : state_sizes_) shapes.push_back({x[0], size});
    return shapes;
  }
  /// There is no maximum, because the number of constants is unknown before the call.
  InputCount input_count() const override { return {.min = 1 + state_sizes_.size()}; }
  void build(const std::vector<Shape>&) override {}
  Tensors step(const Tensors& inputs) const override {
    const Tensors outputs = call_layer(inputs);
    if (outputs.size() != 1 + state_sizes_.size())
      fail("cell ", layer_->name(), ": expected call to give the output and ", state_sizes_.size(),
           " next states, got ", outputs.size(), " tensors");
    return outputs;
  }
  bool takes_constants() const override { return true; }
  LayerPtr as_layer() override { return layer_; }

 private:
  Tensors call_layer(const Tensors& inputs) const {
    if (!takes_state_list_) return (*layer_)(inputs, CallOptions{});
    const std::span<const Tensor> states = std::span(inputs).subspan(1);
    CallOptions options;
    options.arguments.set("1", boxed(states.first(state_sizes_.size())));
    if (states.size() > state_sizes_.size())
      options.arguments.set("2", boxed(states.subspan(state_sizes_.size())));
    return (*layer_)(Tensors{inputs[0]}, options);
  }

  LayerPtr layer_;
  bool takes_state_list_;
  std::vector<int64_t> state_sizes_;
};

}  // namespace

std::shared_ptr<RnnCell> wrap_as_cell(const LayerPtr& layer) {
  return std::make_shared<LayerCell>(layer);
}

}  // namespace crescent
