#include "augmentation.h"

namespace crescent {
namespace {

bool takes(const Layer& layer, const char* argument) {
  for (const Argument& each : layer.call_arguments())
    if (each.name == argument) return each.supported;
  return false;
}

/// Labels and masks go through the layers that take them.
class Pipeline final : public Layer {
 public:
  static void describe(Schema<Pipeline>& s) {
    s.doc(
         "Layers one after the other, as one; those that act in training only do so here too, "
         "unless told otherwise.")
        .field("layers", &Pipeline::given_, "In the order in which they are called.")
        .kind("layer")
        .required()
        .property("layers", &Pipeline::layers, "In the order in which they are called.")
        .argument("training", true, "Whether the layers train.")
        .input("images", 0, "The images, or what else the layers take.")
        .argument("labels", Value(), "Labels of the images, which are a result too.")
        .argument("segmentation_masks", Value(), "Masks of the images, which are a result too.");
  }
  InputCount input_count() const override { return {1, 1}; }
  void configured() override {
    Layer::configured();
    for (const Value& value : given_.is_list() ? given_.as_list() : List{given_}) {
      layers_.push_back(crescent::get<Layer>(value));
      if (!layers_.back()) fail("layers: expected a list of layers, got ", given_);
      track(layers_.back());
    }
    set_supports_masking(true);
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    Tensor x = inputs[0];
    Tensor labels = call.tensor("labels"), masks = call.tensor("segmentation_masks");
    for (const LayerPtr& layer : layers_) {
      CallOptions options;
      options.training = call.training;
      const bool with_labels = labels && takes(*layer, "labels");
      if (with_labels) options.arguments.set("labels", boxed(labels));
      if (masks && !takes(*layer, "segmentation_masks"))
        fail("layer '", layer->name(), "' (", layer->class_name(),
             ") does not take segmentation_masks");
      if (masks) options.arguments.set("segmentation_masks", boxed(masks));
      const Tensors results = (*layer)(Tensors{x}, options);
      x = results[0];
      if (with_labels) labels = results[1];
      if (masks) masks = results.back();
    }
    Tensors results{x};
    for (const Tensor& each : {labels, masks})
      if (each) results.push_back(each);
    return results;
  }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors& outputs) override {
    return {outputs[0].mask()};
  }
  Dict get_config() const override {
    Dict config = Layer::get_config();
    List layers;
    for (const LayerPtr& layer : layers_) layers.push_back(serialize(layer.get()));
    config.set("layers", std::move(layers));
    return config;
  }

 private:
  std::vector<LayerPtr> layers() const { return layers_; }

  Value given_;
  std::vector<LayerPtr> layers_;
};

}  // namespace

void add_pipeline(Registry& registry) { registry.add<Pipeline>("Pipeline"); }

}  // namespace crescent
