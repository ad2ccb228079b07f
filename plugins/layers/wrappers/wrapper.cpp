#include "wrapper.h"

#include "crescent/registry/registration.h"

namespace crescent {

LayerPtr layer_from(const std::string& wrapper, const Value& value) {
  if (value.object_as<Layer>() || value.is_dict() || value.is_string()) return get<Layer>(value);
  fail("Please initialize `", wrapper, "` layer with a `Layer` instance. Received: ", value);
}

void BaseWrapper::configured() {
  Layer::configured();
  set_layer(layer_from(class_name(), layer_option_));
}

void BaseWrapper::set_layer(LayerPtr layer) {
  if (layer_) untrack(layer_);
  layer_ = std::move(layer);
  track(layer_);
}

Dict BaseWrapper::get_config() const {
  Dict config = Layer::get_config();
  config.set("layer", serialize(layer_.get()));
  return config;
}

namespace {

class Wrapper final : public BaseWrapper {
 public:
  static void describe(Schema<Wrapper>& s) {
    s.doc("Base of layers that wrap another layer; calls it unchanged.");
    describe_layer(s);
  }
  void configured() override {
    BaseWrapper::configured();
    set_supports_masking(layer()->supports_masking());
  }
  InputCount input_count() const override { return layer()->input_count(); }
  Tensors call(const Tensors& inputs, const Call&) override { return (*layer())(inputs); }
  /// Returns the masks that the wrapped layer has set on its outputs.
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors& outputs) override {
    Tensors masks;
    for (const Tensor& output : outputs) masks.push_back(output.mask());
    return masks;
  }
};

}  // namespace

CRESCENT_REGISTER(wrapper) { registry.add<Wrapper>("Wrapper"); }

}  // namespace crescent
