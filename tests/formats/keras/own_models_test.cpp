// Models whose class is written in C++: the file contains their build shapes, and the paths of
// their layers are those that Keras derives from attributes.
#include "keras_file.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

class TwoLayers final : public Model {
 public:
  static void describe(Schema<TwoLayers>& s) {
    s.field("units", &TwoLayers::units_, "Width of the first.")
        .property("layers_by_attribute", &TwoLayers::layers_by_attribute, "For files.");
  }
  void configured() override {
    Model::configured();
    track(first_ = layer("Dense", {{"units", units_}}));
    track(tail_ = layer("Dense", {{"units", 2}}));
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    return {(*tail_)((*first_)(inputs.front()) + inputs.back())};
  }
  Dict layers_by_attribute() const {
    return {{"first", Value(first_)}, {"tail", List{Value(tail_)}}};
  }

 private:
  int64_t units_ = 3;
  LayerPtr first_, tail_;
};

void register_two_layers() {
  if (!registry().find(Layer::kKind, "TwoLayers")) registry().add<TwoLayers>("TwoLayers");
}

}  // namespace

TEST_CASE("a model of a C++ class without symbols goes on from its file") {
  register_two_layers();
  const Tensor x = ramp({8, 4}), x_of_other_width = ramp({8, 5}, 0.02), y = ramp({8, 2}, 0.03);
  const Dict options{{"epochs", 2}, {"batch_size", 4}, {"verbose", 0}, {"shuffle", false}};
  for (const char* name : {"m.keras", "m.h5"}) {
    CAPTURE(name);
    const Scratch scratch;
    const ModelPtr model = std::dynamic_pointer_cast<Model>(layer("TwoLayers", {{"units", 5}}));
    model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
    model->fit({x, x_of_other_width}, {y}, options);
    crescent::save_model(*model, scratch.path(name));
    const ModelPtr loaded_model = crescent::load_model(scratch.path(name));
    check_same(loaded_model->predict({x, x_of_other_width}), model->predict({x, x_of_other_width}));
    CHECK(loaded_model->fit({x, x_of_other_width}, {y}, options)->at("loss") ==
          model->fit({x, x_of_other_width}, {y}, options)->at("loss"));
    check_same(loaded_model->get_weights(), model->get_weights());
    CHECK(clone_model(*model)->count_params() == model->count_params());
  }
}

TEST_CASE("layers of a C++ class stand below the attributes that it says") {
  register_two_layers();
  const Scratch scratch;
  const ModelPtr model = std::dynamic_pointer_cast<Model>(layer("TwoLayers", {}));
  model->compute_output_shape({{-1, 4}, {-1, 3}});
  crescent::save_weights(*model, scratch.path("m.weights.h5"));
  KerasFile file(scratch.path("m.weights.h5"));
  CHECK(file.members("first/vars").has_value());
  CHECK(file.members("layers/dense_1/vars").has_value());  // "layers" comes before "tail"
  CHECK(!file.members("layers/dense").has_value());
  CHECK(!file.members("tail").has_value());
}

}  // namespace crescent::hdf5
