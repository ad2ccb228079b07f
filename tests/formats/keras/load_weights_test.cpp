// Loading weights into a model other than the saved one: by order, by name, with renamed weights,
// or partially; mismatches are reported before any weight changes.
#include "keras/weights/names/renaming.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

ModelPtr model_of_two_layers(const std::string& first, const std::string& second, int classes = 3) {
  return Sequential::make(
      {layer("Dense", {{"units", 8}, {"input_shape", List{4}}, {"name", first}}),
       layer("Dense", {{"units", classes}, {"name", second}})});
}

std::string last_warning;  // NOLINT: set by the warning handler

/// The warnings that loading the file into the model raises.
std::string warnings(Model& model, const std::string& path, const Dict& options) {
  last_warning.clear();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  crescent::load_weights(model, path, options);
  set_warning_handler(nullptr);
  return last_warning;
}

TEST_CASE("a name stands for another by the first pattern that fits") {
  const keras::Renaming renaming(
      Dict{{"encoder_*", "enc_*"}, {"last", "head"}, {"*_old", "*"}, {"enc*", "never"}});
  CHECK(renaming("encoder_1") == "enc_1");
  CHECK(renaming("last") == "head");
  CHECK(renaming("lasting") == "lasting");
  CHECK(renaming("dense_old") == "dense");
  CHECK(contains(failure([] { keras::Renaming(Dict{{"*a*", "b"}}); }), "more than one *"));
  CHECK(contains(failure([] { keras::Renaming(List{"a"}); }), "names by names"));
}

TEST_CASE("layers are found by the names that they have after renaming") {
  Scratch scratch;
  for (const char* name : {"w.h5", "w.safetensors"}) {
    CAPTURE(name);
    const std::string path = scratch.path(name);
    auto saved_model = model_of_two_layers("encoder_1", "last"),
         model = model_of_two_layers("enc_1", "head");
    crescent::save_weights(*saved_model, path);
    const bool has_paths = path.ends_with("safetensors");
    Dict options{{"rename", has_paths ? Dict{{"encoder_*", "enc_*"}, {"last/*", "head/*"}}
                                      : Dict{{"encoder_*", "enc_*"}, {"last", "head"}}}};
    if (!has_paths) {
      CHECK(contains(failure([&] { crescent::load_weights(*model, path, options); }),
                     "rename needs by_name"));
      options.set("by_name", true);
    }
    crescent::load_weights(*model, path, options);
    check_same(model->get_weights(), saved_model->get_weights());
  }
}

TEST_CASE("weights are found by their paths, whatever is trainable and in whatever order") {
  Scratch scratch;
  const auto nested_model = [](bool is_reversed) {
    std::vector<LayerPtr> inner_layers{
        layer("Dense", {{"units", 4}, {"input_shape", List{2, 4}}, {"name", "a"}}),
        layer("Dense", {{"units", 4}, {"input_shape", List{2, 4}}, {"name", "b"}})};
    if (is_reversed) std::swap(inner_layers[0], inner_layers[1]);
    return Sequential::make(
        {Sequential::make(inner_layers, "inner"),
         layer("GRU", {{"units", 4}, {"name", "r"}, {"input_shape", List{2, 4}}})},
        "outer");
  };
  const auto built_model = [&](bool is_reversed) {
    auto model = nested_model(is_reversed);
    model->build_for({{-1, 2, 4}});
    return model;
  };
  auto saved_model = built_model(false);
  saved_model->get_layer("inner")->sublayers().front()->set_trainable(false);
  const Tensors x{ramp({2, 2, 4})};
  for (const char* target : {"keras3", "keras2"}) {
    const std::string path = scratch.path("m.h5");
    crescent::save_model(*saved_model, path, {{"target", target}});
    auto unfrozen_model = built_model(false), reversed_model = built_model(true);
    crescent::load_weights(*unfrozen_model, path, {{"by_path", true}});
    check_same(unfrozen_model->predict(x), saved_model->predict(x));
    crescent::load_weights(*reversed_model, path, {{"by_path", true}});
    for (const char* name : {"a", "b"})
      check_same(
          dynamic_cast<Model&>(*reversed_model->get_layer("inner")).get_layer(name)->get_weights(),
          dynamic_cast<Model&>(*saved_model->get_layer("inner")).get_layer(name)->get_weights());
  }
  const std::string path = scratch.path("w.h5");
  crescent::save_weights(*model_of_two_layers("a", "b"), path);
  auto other_model = model_of_two_layers("c", "b");
  CHECK_THAT(failure([&] {
               crescent::load_weights(*other_model, path, {{"by_path", true}});
             }),
             Catch::Contains("no array for 'c/kernel', 'c/bias'"));
  crescent::load_weights(*other_model, path, {{"by_path", true}, {"rename", Dict{{"a", "c"}}}});
  CHECK_THAT(failure([&] {
               crescent::load_weights(*other_model, path, {{"by_path", true}, {"by_name", true}});
             }),
             Catch::Contains("neither by_name"));
}

TEST_CASE("layers that do not fit are left alone where that is asked for") {
  Scratch scratch;
  auto saved_model = model_of_two_layers("a", "b"), model = model_of_two_layers("a", "b", 5);
  for (const char* name : {"w.h5", "w.weights.h5"}) {
    CAPTURE(name);
    const std::string path = scratch.path(name);
    crescent::save_weights(*saved_model, path);
    const Tensors weights_before = model->get_weights();
    CHECK(contains(failure([&] { crescent::load_weights(*model, path); }), "(8, 5)"));
    check_same(model->get_weights(), weights_before);
    CHECK(contains(warnings(*model, path, {{"skip_mismatch", true}}),
                   "for layer b due to mismatch in shape ((8, 5) vs (8, 3))"));
    check_same(model->get_weights()[0], saved_model->get_weights()[0]);
    check_same(model->get_weights()[2], weights_before[2]);
    model = model_of_two_layers("a", "b", 5);
  }
}

TEST_CASE("layers that a file of Keras 3 has not are left alone where that is asked for") {
  Scratch scratch;
  const std::string path = scratch.path("w.weights.h5");
  auto saved_model = model_of_two_layers("a", "b");
  crescent::save_weights(*saved_model, path);
  auto layers = model_of_two_layers("a", "b")->layers();
  layers.push_back(layer("Dense", {{"units", 2}, {"name", "c"}}));
  auto model = Sequential::make(layers, "longer");
  const Tensors weights_before = model->get_weights();
  CHECK(contains(failure([&] { crescent::load_weights(*model, path); }),
                 "Layer 'c' expected 2 variables, but received 0 variables"));
  CHECK(contains(warnings(*model, path, {{"skip_mismatch", true}}),
                 "for layer c due to mismatch in number of weights (2 vs 0)"));
  for (size_t i = 0; i < weights_before.size(); ++i)
    check_same(model->get_weights()[i], i < 4 ? saved_model->get_weights()[i] : weights_before[i]);
}

TEST_CASE("a report tells the fate of every weight and array") {
  Scratch scratch;
  const std::string path = scratch.path("w.h5");
  crescent::save_weights(*model_of_two_layers("a", "b"), path);
  auto model = model_of_two_layers("a", "c");
  const Dict by_name_options{{"report", true}, {"by_name", true}};
  CHECK(contains(warnings(*model, path, by_name_options),
                 "loaded      a/kernel (4, 8) <- a/a/kernel\n  loaded      a/bias (8,) <- a/a/bias"
                 "\n  missing     c/kernel (8, 3)\n  missing     c/bias (3,)"
                 "\n  unexpected  b/b/kernel (8, 3)\n  unexpected  b/b/bias (3,)"));

  auto other_model = model_of_two_layers("a", "b", 5);
  const Tensors weights_before = other_model->get_weights();
  last_warning.clear();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  failure([&] { crescent::load_weights(*other_model, path, {{"report", true}}); });
  set_warning_handler(nullptr);
  CHECK(contains(last_warning, "misfitting  b/kernel (8, 5) <- b/b/kernel (8, 3)"));
  check_same(other_model->get_weights(), weights_before);
}

TEST_CASE("weights come independent of what is trainable") {
  Scratch scratch;
  const std::string path = scratch.path("w.h5");
  auto saved_model = model_of_two_layers("a", "b"), model = model_of_two_layers("a", "b");
  saved_model->layers()[0]->set_trainable(false);
  crescent::save_weights(*saved_model, path);
  model->layers()[1]->set_trainable(false);
  crescent::load_weights(*model, path);
  check_same(model->layers()[0]->get_weights(), saved_model->layers()[0]->get_weights());
  check_same(model->layers()[1]->get_weights(), saved_model->layers()[1]->get_weights());
}

}  // namespace
}  // namespace crescent::hdf5
