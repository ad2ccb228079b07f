// The form that files must have so that Keras 3.15.1 opens them; it was found by opening files with
// Keras. The comments quote the errors of Keras for forms that it refused, or say what it misread.
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/incompatibilities.h"
#include "keras/weights/keras2_weights.h"
#include "keras/weights/keras3_weights.h"
#include "keras/weights/names/group_names.h"
#include "models.h"

namespace crescent::keras {
namespace {

using hdf5::configured;
using hdf5::contains;
using hdf5::layer;
using hdf5::Scratch;

ModelPtr model_on_input(const Shape& shape, const LayerPtr& layer) {
  return Sequential::make(
      {hdf5::layer("InputLayer", {{"batch_input_shape", Codec<Shape>::encode(shape)}}), layer},
      "s");
}

/// A model that calls a layer on two inputs, each of shape (5, 4).
ModelPtr model_on_two_inputs(const LayerPtr& layer) {
  const Symbol a = Input({5, 4}), b = Input({5, 4});
  return Functional::make({a, b}, (*layer)(std::vector<Symbol>{a, b}));
}

std::string in_h5(const Model& model) {
  return to_json(keras_model_config(model_config(model), "keras3"));
}
std::string in_archive(const Model& model) {
  return to_json(keras3_model_config(model_config(model)));
}

std::vector<std::string> paths_of_weights(Model& model) {
  Entries entries;
  write_keras3_weights(entries, model);
  std::vector<std::string> paths;
  for (const Entry& entry : entries)
    if (entry.value) paths.push_back(entry.path);
  return paths;
}

/// The weight names that an .h5 lists for the last layer.
std::vector<std::string> names_in_h5(Model& model) {
  Entries entries;
  write_weights(entries, model, "w", "keras3");
  for (const Entry& entry : entries)
    if (entry.path == "w/" + model.layers().back()->name())
      return Codec<std::vector<std::string>>::decode(entry.attributes.at("weight_names"));
  return {};
}

}  // namespace

TEST_CASE("groups of layers have the snake case of Keras 3") {
  CHECK(keras3_snake_case("ConvLSTM2D") == "conv_lstm2d");
  CHECK(keras3_snake_case("GlobalMaxPooling1D") == "global_max_pooling1d");
  CHECK(keras3_snake_case("MultiHeadAttention") == "multi_head_attention");
  CHECK(keras3_snake_case("PReLU") == "p_re_lu");
  CHECK(keras3_snake_case("Conv1DTranspose") == "conv1d_transpose");
  auto model =
      model_on_input({-1, 3, 5, 2}, layer("ConvLSTM1D", {{"filters", 2}, {"kernel_size", 2}}));
  CHECK(paths_of_weights(*model).front() == "layers/conv_lstm1d/cell/vars/0");
}

TEST_CASE("attention takes its tensors in a list, heads take them one by one") {
  // If the inputs are not a list, Keras 3 fails: "Attention layer must be called on a list of
  // inputs"
  CHECK(contains(in_archive(*model_on_two_inputs(layer("Attention", {}))),
                 R"("args": [[{"class_name")"));
  CHECK(contains(in_archive(*model_on_two_inputs(layer("AdditiveAttention", {}))),
                 R"("args": [[{"class_name")"));
  const Dict head_options{{"num_heads", 2}, {"key_dim", 3}};
  CHECK_FALSE(contains(in_archive(*model_on_two_inputs(layer("MultiHeadAttention", head_options))),
                       R"("args": [[)"));
}

TEST_CASE("layers of an .h5 that Keras 3 would misread say their module") {
  const auto has_module = [](const Shape& shape, const char* name, const Dict& options) {
    auto model = model_on_input(shape, layer(name, options));
    return contains(in_h5(*model), concat(R"(", "class_name": ")", name, "\""));
  };
  // Without the module, Keras fails with "Unknown layer"; and if an axis is a list of several
  // numbers, Keras silently drops all but one.
  CHECK(has_module({-1, 4}, "ThresholdedReLU", {}));
  CHECK(has_module({-1, 4}, "LayerScale", {{"init_values", 0.5}, {"projection_dim", 4}}));
  CHECK(has_module({-1, 5, 4}, "LayerNormalization", {{"axis", List{1, 2}}}));
  CHECK(has_module({-1, 5, 4}, "UnitNormalization", {{"axis", List{1, 2}}}));
  CHECK_FALSE(has_module({-1, 5, 4}, "LayerNormalization", {}));
  CHECK_FALSE(has_module({-1, 5, 4}, "BatchNormalization", {{"axis", 1}}));
  // Without the module, Keras would look for a function whose name is the string "dot" of
  // "score_mode".
  CHECK(contains(in_h5(*model_on_two_inputs(layer("Attention", {}))),
                 R"({"module": "keras.layers", "class_name": "Attention")"));
  CHECK(contains(in_archive(*model_on_input({-1, 4}, layer("ThresholdedReLU", {}))),
                 R"({"module": "keras._legacy.layers", "class_name": "ThresholdedReLU")"));
  const Dict grouped_options{{"head_dim", 2}, {"num_query_heads", 2}, {"num_key_value_heads", 1}};
  CHECK(contains(in_archive(*model_on_two_inputs(layer("GroupQueryAttention", grouped_options))),
                 R"({"module": "keras.layers", "class_name": "GroupQueryAttention")"));
}

TEST_CASE("a model inside a layer has Keras 3's form") {
  const Value inner_config = configured(
      "Sequential", {{"name", "inside"}, {"layers", List{configured("Dense", {{"units", 2}})}}});
  const std::string wrapped_json =
      in_archive(*model_on_input({-1, 5, 4}, layer("TimeDistributed", {{"layer", inner_config}})));
  CHECK(contains(wrapped_json, R"("layer": {"module": "keras", "class_name": "Sequential")"));
  CHECK_FALSE(contains(wrapped_json, R"("module": "keras.layers", "class_name": "Sequential")"));
}

TEST_CASE("a slice of a symbol is written as Keras writes it") {
  // For every other form of a slice Keras fails: "Unsupported key type for array slice"
  const Symbol x = Input({5, 4});
  const Value key = List{Dict{{"start", 0}, {"stop", Value()}}, Dict{{"start", 1}, {"stop", 3}}};
  const LayerPtr slice_layer = layer(
      "OperationLayer",
      {{"operation", "get_item"}, {"arguments", Dict{{"x", Dict{{"input", 0}}}, {"key", key}}}});
  const std::string written = in_archive(*Functional::make({x}, {(*slice_layer)(x)}));
  CHECK(contains(written, R"([{"class_name": "__slice__", "config": {"start": 0, "stop": null, )"
                          R"("step": null}}, {"class_name": "__slice__", "config": {"start": 1, )"
                          R"("stop": 3, "step": null}}])"));
}

TEST_CASE("weights are counted as Keras 3 counts them") {
  using Names = std::vector<std::string>;
  // SpectralNormalization also stores the kernel of the inner layer as a variable of its own. If
  // the file lacks it, Keras fails: "expected 2 variables, but received 1 variables"
  const Value dense_config = configured("Dense", {{"units", 2}});
  auto spectral_model =
      model_on_input({-1, 4}, layer("SpectralNormalization", {{"layer", dense_config}}));
  CHECK(paths_of_weights(*spectral_model) == Names{"layers/spectral_normalization/vars/0",
                                                   "layers/spectral_normalization/vars/1",
                                                   "layers/spectral_normalization/layer/vars/0",
                                                   "layers/spectral_normalization/layer/vars/1"});
  std::vector<Shape> shapes;
  for (const Tensor& weight : spectral_model->get_weights()) shapes.push_back(weight.shape());
  CHECK(shapes == std::vector<Shape>{{4, 2}, {1, 2}, {2}});
  // A kernel with a LoRA adapter is not trainable, so it comes last.
  auto lora_model =
      model_on_input({-1, 4}, layer("Dense", {{"units", 2}, {"lora_rank", 1}, {"name", "d"}}));
  CHECK(names_in_h5(*lora_model) ==
        Names{"d/bias", "d/lora_kernel_a", "d/lora_kernel_b", "d/kernel"});
  auto convolution = model_on_input(
      {-1, 6, 4},
      layer("Conv1D", {{"filters", 2}, {"kernel_size", 3}, {"lora_rank", 1}, {"name", "c"}}));
  CHECK(names_in_h5(*convolution) ==
        Names{"c/bias", "c/lora_kernel_a", "c/lora_kernel_b", "c/kernel"});
  auto gated_model = model_on_two_inputs(layer(
      "MultiHeadAttention",
      {{"num_heads", 2}, {"key_dim", 3}, {"use_gate", true}, {"use_bias", false}, {"name", "m"}}));
  CHECK(names_in_h5(*gated_model) == Names{"m/query/kernel", "m/key/kernel", "m/gate/kernel",
                                           "m/value/kernel", "m/attention_output/kernel"});
}

TEST_CASE("models with such weights come back from every file") {
  const Value dense = configured("Dense", {{"units", 2}});
  const Value inner_config =
      configured("Sequential", {{"name", "inside"}, {"layers", List{dense}}});
  const LayerPtr layers[] = {
      layer("SpectralNormalization", {{"layer", dense}}),
      layer("Dense", {{"units", 2}, {"lora_rank", 1}}),
      layer("Conv1D", {{"filters", 2}, {"kernel_size", 3}, {"lora_rank", 1}}),
      layer("TimeDistributed", {{"layer", inner_config}}),
      layer("LayerNormalization", {{"axis", List{1, 2}}}),
      layer("ThresholdedReLU", {{"theta", 0.1}}),
  };
  const Tensor x = hdf5::ramp({3, 5, 4});
  for (const LayerPtr& tested_layer : layers) {
    INFO(tested_layer->class_name());
    auto model = model_on_input({-1, 5, 4}, tested_layer);
    const Tensors expected = model->predict({x});
    for (const char* name : {"m.h5", "m.keras"}) {
      const Scratch scratch;
      save_model(*model, scratch.path(name));
      hdf5::check_same(load_model(scratch.path(name))->predict({x}), expected);
    }
  }
}

TEST_CASE("files of tf.keras, which had another snake case, are read too") {
  const Scratch scratch;
  auto model =
      model_on_input({-1, 3, 5, 2}, layer("ConvLSTM1D", {{"filters", 2}, {"kernel_size", 2}}));
  Entries entries;
  write_keras3_weights(entries, *model);
  NamedTensors arrays;
  for (const Entry& entry : entries) {
    std::string path = entry.path;
    if (const size_t position = path.find("conv_lstm1d"); position != path.npos)
      path.replace(position, std::strlen("conv_lstm1d"), "conv_lst_m1d");
    if (entry.value) arrays.emplace_back(path, entry.value);
  }
  write_arrays(scratch.path("t.weights.h5"), arrays);
  auto other_model =
      model_on_input({-1, 3, 5, 2}, layer("ConvLSTM1D", {{"filters", 2}, {"kernel_size", 2}}));
  load_weights(*other_model, scratch.path("t.weights.h5"));
  hdf5::check_same(other_model->get_weights(), model->get_weights());
}

TEST_CASE("the size of the first batch, which Keras 3 keeps as that of an input, binds nobody") {
  auto model = model_on_input({8, 4}, layer("Dense", {{"units", 2}}));
  CHECK(model->predict({hdf5::ramp({24, 4})}).front().shape() == Shape{24, 2});
  CHECK_THROWS_WITH(model->predict({hdf5::ramp({24, 5})}), Catch::Contains("to have shape (4,)"));
}

TEST_CASE("what Keras 3 refuses is listed before it is written") {
  const auto limit = [](const Shape& shape, const char* name, Dict options) {
    options.set("name", options.contains("name") ? options.at("name") : Value("x"));
    const auto model = model_on_input(shape, layer(name, options));
    std::vector<std::string> lines;
    for (const Incompatibility& incompatibility :
         incompatibilities_of(model_config(*model), {}, "keras3"))
      lines.push_back(concat(incompatibility.location, "/", incompatibility.option, ": ",
                             incompatibility.reason));
    return join(lines);
  };
  const Dict window_options{{"filters", 2}, {"kernel_size", 2}};
  Dict causal_options = window_options;
  causal_options.set("padding", "causal");
  CHECK(limit({-1, 5, 4}, "LocallyConnected1D", window_options) ==
        "layer 'x'/: Keras 3 has no layer 'LocallyConnected1D'");
  CHECK(limit({-1, 5, 4}, "SeparableConv1D", causal_options) ==
        "layer 'x'/padding: Keras 3's SeparableConv1D refuses \"causal\"");
  CHECK(limit({-1, 5, 4}, "Conv1D", causal_options) == "");
  CHECK(limit({-1, 4}, "GaussianNoise", {{"stddev", 1.5}}) ==
        "layer 'x'/stddev: Keras 3's GaussianNoise refuses 1.5");
  CHECK(limit({-1, 4}, "GaussianNoise", {{"stddev", 1}}) == "");
  CHECK(limit({-1, 4}, "Dense", {{"units", 1}, {"name", "block/one"}}) ==
        "layer 'block/one'/name: Keras 3 takes no '/' in names");
}

TEST_CASE("what Keras 2.3.1 does not find in a file") {
  // Without the input shape of the inner model Keras fails: "You are trying to load a weight file
  // containing 2 layers into a model with 1 layers"
  auto inner_model = model_on_input({-1, 4}, layer("Dense", {{"units", 2}, {"name", "first"}}));
  auto outer_model = Sequential::make({inner_model, layer("Dense", {{"units", 1}})});
  const std::string written = to_json(keras_model_config(model_config(*outer_model), "keras2"));
  const size_t first = written.find(R"("name": "first")");
  // The shape must be in the configuration of the inner layer itself.
  CHECK(written.find("batch_input_shape", first) != written.npos);
  // Keras fails for a metric that is an object: "Unknown metric function: {'class_name': 'AUC',
  // 'config': {}}"
  const auto limit = [](const Value& metric) {
    auto model = hdf5::small_sequential();
    model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{metric}}});
    return to_text(incompatibilities_of(model_config(*model), model->compile_config(), "keras2"));
  };
  CHECK(contains(limit("AUC"), "metrics: Keras 2.3.1 reads no objects such as AUC"));
  CHECK(contains(limit(configured("MeanSquaredError", {{"name", "other"}})), "no objects such as"));
  CHECK(limit("mae") == "");
  CHECK(limit("accuracy") == "");
}

TEST_CASE("a step of a Concatenate counts when a part of it does, and in Keras 2 when all do") {
  const Tensor x = ops::ones({1, 3, 2}), y = ops::ones({1, 3, 2});
  const Tensors masks{ops::cast(Tensor::from<int32_t>({1, 1, 0}, {1, 3}), DType::boolean),
                      ops::cast(Tensor::from<int32_t>({1, 0, 0}, {1, 3}), DType::boolean)};
  const auto counting = [&](const Dict& options) {
    const LayerPtr layer = make<Layer>("Concatenate", options);
    const Tensors outputs = (*layer)(Tensors{x, y});
    return layer->compute_mask({x, y}, masks, outputs)[0].to_vector();
  };
  CHECK(counting({}) == std::vector<double>{1, 1, 0});
  CHECK(counting({{"mask_all", true}}) == std::vector<double>{1, 0, 0});
}

TEST_CASE("a blur has a size for each direction") {
  const auto size = [](const Value& given) {
    return to_json(make<Layer>("RandomGaussianBlur", {{"kernel_size", given}})
                       ->get_config()
                       .at("kernel_size"));
  };
  CHECK(size(5) == "[5, 5]");
  CHECK(size(List{3, 5}) == "[3, 5]");
}

}  // namespace crescent::keras
