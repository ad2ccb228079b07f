// Models of C++ classes without symbols: what they were built for is in the file.
#include "models.h"

namespace crescent::hdf5 {
namespace {

class TwoLayers final : public Model {
 public:
  static void describe(Schema<TwoLayers>& s) {
    s.field("units", &TwoLayers::units_, "Width of the first.");
  }
  void configured() override {
    Model::configured();
    track(first_ = layer("Dense", {{"units", units_}}));
    track(tail_ = layer("Dense", {{"units", 2}}));
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    return {(*tail_)((*first_)(inputs.front()) + inputs.back())};
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
  const Tensor x = ramp({8, 4}), more = ramp({8, 5}, 0.02), y = ramp({8, 2}, 0.03);
  const Dict options{{"epochs", 2}, {"batch_size", 4}, {"verbose", 0}, {"shuffle", false}};
  for (const char* name : {"m.keras", "m.h5"}) {
    CAPTURE(name);
    const Scratch scratch;
    const ModelPtr model = std::dynamic_pointer_cast<Model>(layer("TwoLayers", {{"units", 5}}));
    model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
    model->fit({x, more}, {y}, options);
    crescent::save_model(*model, scratch.path(name));
    const ModelPtr loaded = crescent::load_model(scratch.path(name));
    check_same(loaded->predict({x, more}), model->predict({x, more}));
    CHECK(loaded->fit({x, more}, {y}, options)->at("loss") ==
          model->fit({x, more}, {y}, options)->at("loss"));
    check_same(loaded->get_weights(), model->get_weights());
    CHECK(clone_model(*model)->count_params() == model->count_params());
  }
}

}  // namespace crescent::hdf5
