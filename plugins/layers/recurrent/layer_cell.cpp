// A layer of the user as a cell: it is called on {x, states..., constants...} and returns {output,
// next states...}.
#include "rnn.h"

namespace crescent {
namespace {

/// The widths of the states of a layer: its option state_size, a number or a list, or units.
std::vector<int64_t> state_sizes_of(const Layer& layer) {
  const Dict config = layer.get_config();
  const bool takes_states = layer.input_count().max > 1;
  for (const char* option : {"state_size", "units"}) {
    const Value* sizes = config.find(option);
    if (takes_states && sizes && !sizes->is_null())
      return Codec<std::vector<int64_t>>::decode(*sizes);
  }
  fail("cell: expected a recurrent cell such as LSTMCell, got ", layer.class_name(),
       "; a layer of one's own is a cell when it has the option state_size");
}

class LayerCell final : public RnnCell {
 public:
  explicit LayerCell(LayerPtr layer) : layer_(std::move(layer)), sizes_(state_sizes_of(*layer_)) {
    set_name(layer_->name());
  }
  size_t state_count() const override { return sizes_.size(); }
  std::vector<Shape> state_shapes(const Shape& x) const override {
    std::vector<Shape> shapes;
    for (int64_t size : sizes_) shapes.push_back({x[0], size});
    return shapes;
  }
  /// The number of constants is unknown before the call.
  InputCount input_count() const override { return {.min = 1 + sizes_.size()}; }
  void build(const std::vector<Shape>&) override {}
  Tensors step(const Tensors& inputs) const override {
    const Tensors outputs = (*layer_)(inputs, CallOptions{});
    if (outputs.size() != 1 + sizes_.size())
      fail("cell ", layer_->name(), ": expected call to give the output and ", sizes_.size(),
           " next states, got ", outputs.size(), " tensors");
    return outputs;
  }
  bool takes_constants() const override { return true; }
  LayerPtr as_layer() override { return layer_; }

 private:
  LayerPtr layer_;
  std::vector<int64_t> sizes_;
};

}  // namespace

std::shared_ptr<RnnCell> wrap_as_cell(const LayerPtr& layer) {
  return std::make_shared<LayerCell>(layer);
}

}  // namespace crescent
