#include "augmentation.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

bool accepts_argument(const Layer& layer, const char* argument) {
  for (const Argument& declared_argument : layer.call_arguments())
    if (declared_argument.name == argument) return declared_argument.supported;
  return false;
}

/// A sequence of augmentation layers. Labels are only passed to layers that accept labels; boxes
/// and masks must be accepted by all layers.
class Pipeline final : public Layer {
 public:
  static void describe(Schema<Pipeline>& s) {
    s.doc("Applies layers one after the other; augmentation acts in training only.")
        .field("layers", &Pipeline::layers_option_, "The layers, in order of application.")
        .kind("layer")
        .required()
        .property("layers", &Pipeline::layers, "The layers, in order of application.")
        .argument("training", true, "Run the layers in training mode.")
        .input("images", 0, "The images, or another input of the layers.")
        .argument("labels", Value(), "Labels of the images, returned as a result too.")
        .argument("bounding_boxes", Value(),
                  "A table of boxes and labels, returned as results too, in the format of the "
                  "layers' `bounding_box_format`.")
        .argument("segmentation_masks", Value(),
                  "Segmentation masks of the images, returned as a result too.");
  }
  InputCount input_count() const override { return {1, 1}; }
  void configured() override {
    Layer::configured();
    for (const Value& value :
         layers_option_.is_list() ? layers_option_.as_list() : List{layers_option_}) {
      layers_.push_back(crescent::get<Layer>(value));
      if (!layers_.back()) fail("layers: expected a list of layers, got ", layers_option_);
      track(layers_.back());
    }
    set_supports_masking(true);
  }
  void build(const std::vector<Shape>& inputs) override {
    std::vector<Shape> shapes = inputs;
    for (const LayerPtr& layer : layers_) {
      layer->build_for(shapes);
      shapes = layer->compute_output_shape(shapes);
    }
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    Tensor x = inputs[0];
    Tensor labels = call.tensor("labels"), masks = call.tensor("segmentation_masks");
    Value boxes = call.argument("bounding_boxes");
    for (const LayerPtr& layer : layers_) {
      CallOptions options;
      options.training = call.training;
      const auto add_argument = [&](const char* name, const Value& value) {
        if (!accepts_argument(*layer, name))
          fail("layer '", layer->name(), "' (", layer->class_name(), ") does not take ", name);
        options.arguments.set(name, value);
      };
      const bool with_labels = labels && accepts_argument(*layer, "labels");
      if (with_labels) add_argument("labels", boxed(labels));
      if (!boxes.is_null()) add_argument("bounding_boxes", boxes);
      if (masks) add_argument("segmentation_masks", boxed(masks));
      const Tensors results = (*layer)(Tensors{x}, options);
      auto next_result = results.begin();
      x = *next_result++;
      if (with_labels) labels = *next_result++;
      if (!boxes.is_null()) {
        const Tensor moved_boxes = *next_result++;
        boxes = Dict{{"boxes", boxed(moved_boxes)}, {"labels", boxed(*next_result++)}};
      }
      if (masks) masks = *next_result;
    }
    Tensors results{x};
    if (labels) results.push_back(labels);
    if (boxes.is_dict())
      for (const char* key : {"boxes", "labels"})
        results.push_back(Codec<Tensor>::decode(*boxes.as_dict().find(key)));
    if (masks) results.push_back(masks);
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

  Value layers_option_;
  std::vector<LayerPtr> layers_;
};

}  // namespace

CRESCENT_REGISTER(pipeline) { registry.add<Pipeline>("Pipeline"); }

}  // namespace crescent
