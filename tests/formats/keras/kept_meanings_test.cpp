// One test for each cause by which converted models once changed their meaning between Keras and
// Crescent; the table in tests/golden/README.md names the test of every cause.
#include "keras/configs/config_in.h"
#include "keras/configs/config_out.h"
#include "keras/configs/incompatibilities.h"
#include "keras/configs/training_config_out.h"
#include "keras/weights/flipped_kernels.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

using keras::ConfigIn;
using keras::FlippedKernels;
using keras::Origin;

ModelPtr model_of_one_layer(const std::string& name, const Dict& options,
                            const List& shape = {5, 4}) {
  Dict layer_options = options;
  layer_options.set("input_shape", shape);
  return Sequential::make({layer(name, layer_options)}, "s");
}

Value compile_arguments(const char* json) {
  return ConfigIn({"3.15.1", "torch"}).compile_options(parse_json(json));
}

TEST_CASE("Keras 3 finds no option of SpatialDropout that it does not know") {
  for (const char* name : {"SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"}) {
    const List shape(static_cast<size_t>(name[14] - '0') + 1, Value(4));
    const auto model = model_of_one_layer(name, {{"rate", 0.5}}, shape);
    for (const char* target : {"keras3", "keras2"}) {
      CAPTURE(name, target);
      const Value written = parse_json(model->to_json({{"target", target}}));
      const List& layers = written.as_dict().at("config").as_dict().at("layers").as_list();
      const Dict& config = layers.back().as_dict().at("config").as_dict();
      CHECK(config.at("rate") == Value(0.5));
      CHECK(config.contains("trainable") == (std::string(target) == "keras2"));
    }
  }
}

TEST_CASE("noise_shape of a SpatialDropout, which Keras writes as null, is left out") {
  const ModelPtr model = model_from_json(R"({"class_name": "Sequential", "keras_version": "2.3.1",
    "backend": "theano", "config": {"name": "s", "layers": [{"class_name": "SpatialDropout1D",
      "config": {"name": "d", "rate": 0.5, "noise_shape": null, "seed": null,
        "batch_input_shape": [null, 5, 4]}}]}})");
  CHECK(model->layers().front()->class_name() == "SpatialDropout1D");
}

TEST_CASE("every kernel of Theano's convolutions has its positions backwards") {
  const std::tuple<const char*, List, int> rows[] = {{"Conv1D", {5, 2}, 1},
                                                     {"Conv2D", {5, 5, 2}, 1},
                                                     {"Conv3D", {5, 5, 5, 2}, 1},
                                                     {"Conv2DTranspose", {5, 5, 2}, 1},
                                                     {"Conv3DTranspose", {5, 5, 5, 2}, 1},
                                                     {"ConvLSTM2D", {4, 5, 5, 2}, 2}};
  for (const auto& [name, shape, kernel_count] : rows) {
    INFO(name);
    const auto model = model_of_one_layer(name, {{"filters", 2}, {"kernel_size", 3}}, shape);
    const FlippedKernels flipped_kernels(*model, {"2.3.1", "theano"});
    int weight_count = 0;
    for (const Variable& weight : model->weights()) {
      const auto convert = flipped_kernels.conversion_of(weight);
      CHECK((convert != nullptr) == (weight.shape().rank() >= 3));
      if (!convert) continue;
      ops::Axes positions;
      for (int axis = 0; axis + 2 < weight.shape().rank(); ++axis) positions.push_back(axis);
      CHECK(convert(weight.value()).to_vector() == ops::flip(weight, positions).to_vector());
      ++weight_count;
    }
    CHECK(weight_count == kernel_count);
  }
}

TEST_CASE("kernels of Theano are turned around where it turns them while it computes") {
  const auto is_flipped = [](const char* name, Dict options, const List& shape) {
    options.set("kernel_size", 3);
    const auto model = model_of_one_layer(name, options, shape);
    const Origin theano{"2.3.1", "theano"};
    return FlippedKernels(*model, theano).conversion_of(model->weights().front()) != nullptr;
  };
  const Dict filters{{"filters", 2}};
  CHECK(is_flipped("Conv1D", filters, {5, 2}));
  CHECK(is_flipped("Conv2DTranspose", filters, {5, 5, 2}));
  CHECK(is_flipped("Conv3DTranspose", filters, {5, 5, 5, 2}));
  CHECK_FALSE(is_flipped("DepthwiseConv2D", {}, {5, 5, 2}));
  CHECK_FALSE(is_flipped("SeparableConv1D", filters, {5, 2}));
  CHECK_FALSE(is_flipped("SeparableConv2D", filters, {5, 5, 2}));
}

TEST_CASE("the layers that a FeatureSpace of Keras 3 encodes with are those that do the same") {
  const ModelPtr model = model_from_json(R"({"module": "keras", "class_name": "Sequential",
    "registered_name": null, "config": {"name": "s", "layers": [
      {"module": "keras.layers", "class_name": "InputLayer", "registered_name": null,
        "config": {"batch_shape": [null, 2], "dtype": "float32", "name": "i"}},
      {"module": "keras.src.layers.preprocessing.feature_space", "class_name": "TFDIdentity",
        "config": {"name": "float_preprocessor", "trainable": true},
        "registered_name": "TFDIdentity"}]}})");
  CHECK(model->layers().back()->class_name() == "Identity");
  const auto config_of = [](const char* class_name) -> Value {
    return Dict{{"class_name", class_name}, {"config", Dict{{"name", "c"}, {"axis", -1}}}};
  };
  const Value converted_config = ConfigIn({"3.15.1", ""}).model(config_of("TFDConcat"));
  CHECK(converted_config.as_dict().at("class_name") == Value("Concatenate"));
  CHECK(converted_config.as_dict().at("config").as_dict().at("axis") == Value(-1));
  CHECK(contains(failure([&] {
                   ConfigIn({"3.15.1", ""}).model(config_of("FeatureSpace"));
                 }),
                 "It is no model"));
}

std::string warning_text;  // NOLINT: set by the warning handler

TEST_CASE("padding that Theano puts at other ends is reported") {
  const auto warning_of = [](const char* class_name, const char* options) {
    const std::string json =
        concat(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)",
               R"({"class_name": ")", class_name, R"(", "config": {"name": "here", )", options,
               R"(, "batch_input_shape": [null, 6, 6, 2]}}]}})");
    warning_text.clear();
    set_warning_handler([](std::string_view text) { warning_text += text; });
    ConfigIn({"2.3.1", "tensorflow"}).model(parse_json(json));
    CHECK(warning_text.empty());
    ConfigIn({"2.3.1", "theano"}).model(parse_json(json));
    set_warning_handler(nullptr);
    return contains(warning_text, "because of here");
  };
  const char* conv = "Conv2D";
  CHECK(warning_of(conv, R"("filters": 2, "kernel_size": [2, 2], "padding": "same")"));
  CHECK(warning_of(conv,
                   R"("filters": 2, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same")"));
  CHECK_FALSE(warning_of(conv, R"("filters": 2, "kernel_size": [3, 3], "padding": "same")"));
  CHECK_FALSE(
      warning_of(conv, R"("filters": 2, "kernel_size": 1, "strides": 2, "padding": "same")"));
  CHECK_FALSE(warning_of(conv, R"("filters": 2, "kernel_size": [2, 2], "padding": "valid")"));
  CHECK(warning_of("MaxPooling2D", R"("pool_size": [2, 2], "strides": null, "padding": "same")"));
  CHECK(warning_of("MaxPooling2D", R"("pool_size": [5, 5], "strides": [1, 1], "padding": "same")"));
  CHECK_FALSE(
      warning_of("MaxPooling2D", R"("pool_size": [3, 3], "strides": [1, 1], "padding": "same")"));
}

TEST_CASE("a model's JSON says its module to Keras 3, and has old names alone for Keras 2") {
  const auto model = model_of_one_layer("Conv1D", {{"filters", 2}, {"kernel_size", 3}});
  const Symbol in = Input({4});
  const auto graph = Functional::make({in}, {(*layer("Dense", {{"units", 2}}))(in)});
  const Value keras3 = parse_json(model->to_json({{"target", "keras3"}}));
  for (const char* name : {"module", "registered_name"}) CHECK(keras3.as_dict().contains(name));
  for (Model* tested_model : {static_cast<Model*>(model.get()), static_cast<Model*>(graph.get())}) {
    const std::string keras2 = tested_model->to_json({{"target", "keras2"}});
    for (const char* word :
         {"module", "registered_name", "GlorotUniform", "groups", "Functional", "batch_shape"})
      CHECK_FALSE(contains(keras2, word));
  }
}

TEST_CASE("clipnorm of Keras 2.3.1 is the norm of all gradients together") {
  const char* json = R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1,
    "momentum": 0.0, "decay": 0.0, "nesterov": false, "clipnorm": 0.5}}, "loss": "mse"})";
  const auto optimizer = [&](const char* version) {
    const Dict options = ConfigIn({version, "theano"}).compile_options(parse_json(json));
    return options.at("optimizer").as_dict().at("config").as_dict();
  };
  CHECK(optimizer("2.3.1").at("global_clipnorm") == Value(0.5));
  CHECK_FALSE(optimizer("2.3.1").contains("clipnorm"));
  CHECK(optimizer("2.15.0").at("clipnorm") == Value(0.5));
}

TEST_CASE("where an activation is expected a layer may stand, and nowhere else") {
  CHECK(kind_given("activation", "PReLU") == "layer");
  CHECK(kind_given("activation", "relu") == "activation");
  CHECK(kind_given("activation", "Strange") == "activation");
  CHECK(kind_given("initializer", "PReLU") == "initializer");
}

TEST_CASE("an archive asks for metrics by the names that they are shown by") {
  const auto model = model_of_one_layer("Dense", {{"units", 2}});
  model->compile({{"loss", "mse"},
                  {"metrics", List{"mae", "accuracy", "cosine_similarity"}},
                  {"weighted_metrics", List{"MSE"}}});
  const Dict archive_config = keras::keras3_compile_config(model->compile_config());
  CHECK(archive_config.at("metrics") == Value(List{"mae", "accuracy", "cosine_similarity"}));
  CHECK(archive_config.at("weighted_metrics") == Value(List{"MSE"}));
}

constexpr const char* kPolicyMap = R"({"module": "keras.dtype_policies",
  "class_name": "DTypePolicyMap", "config": {"default_policy": "mixed_bfloat16", "policy_map": {
    "first": "float64", "heads/query": {"class_name": "DTypePolicy", "config": {"name": null}},
    "heads/.*": "float16", "out.*": {"class_name": "DTypePolicy", "config": {"name": "float32"}},
    ".*r": "float16"}}})";

LayerPtr with_policy_map(const std::string& class_name, const char* options) {
  const std::string json = concat(R"({"class_name": ")", class_name, R"(", "config": {)", options,
                                  R"(, "dtype": )", kPolicyMap, "}}");
  return get<Layer>(ConfigIn({"3.15.1", ""}).model(parse_json(json)));
}

TEST_CASE("a map of policies has one for a layer at a path, also for a layer inside a layer") {
  const auto policy = [](const std::string& name) {
    const LayerPtr layer =
        with_policy_map("Dense", concat(R"("units": 2, "name": ")", name, "\"").c_str());
    CHECK(layer->policy().compute == DType::bfloat16);
    layer->build_for({{3, 4}});
    return std::pair(layer->policy().compute, layer->weights().front().dtype());
  };
  CHECK(policy("first") == std::pair(DType::float64, DType::float64));
  CHECK(policy("outside") == std::pair(DType::float32, DType::float32));
  CHECK(policy("inside") == std::pair(DType::bfloat16, DType::float32));
  CHECK(contains(failure([&] { policy("outer"); }),
                 "expected one expression that matches the path 'outer', got 'out.*', '.*r'"));

  const LayerPtr attention =
      with_policy_map("MultiHeadAttention", R"("num_heads": 2, "key_dim": 3, "name": "heads")");
  attention->build_for({{3, 4, 6}, {3, 4, 6}});
  CHECK(attention->policy().compute == DType::bfloat16);
  for (const LayerPtr& sublayer : attention->sublayers())
    CHECK(sublayer->policy().compute ==
          (sublayer->name() == "query" ? DType::float32 : DType::float16));
}

TEST_CASE("accuracy is picked by the loss in files of Keras up to 2.3.1, and stays through saves") {
  Scratch scratch;
  const auto model =
      model_of_one_layer("Activation", {{"name", "a"}, {"activation", "sigmoid"}}, {3});
  const auto opened_model = [&](const char* version, const char* loss) {
    const Value compile_config =
        Dict{{"optimizer_config", Dict{{"class_name", "SGD"}, {"config", Dict()}}},
             {"loss", loss},
             {"metrics", List{"accuracy", "mae"}}};
    const std::vector<std::string> no_names, layers{"a"};
    write_tree(scratch.path("m.h5"), {{"",
                                       {{"model_config", model->to_json({{"target", "keras2"}})},
                                        {"training_config", to_json(compile_config)},
                                        {"keras_version", std::string(version)},
                                        {"backend", std::string("tensorflow")}},
                                       {}},
                                      {"model_weights", {{"layer_names", layers}}, {}},
                                      {"model_weights/a", {{"weight_names", no_names}}, {}}});
    return crescent::load_model(scratch.path("m.h5"));
  };
  const auto metrics = [](Model& opened) {
    return to_json(opened.compile_config().as_dict().at("metrics"));
  };
  for (const char* version : {"2.3.0-tf", "2.4.0", "3.15.1"})
    CHECK(metrics(*opened_model(version, "binary_crossentropy")) == R"(["accuracy", "mae"])");
  CHECK(metrics(*opened_model("2.3.1", "mse")) == R"(["accuracy", "mae"])");
  for (const char* version : {"2.1.6", "2.2.4-tf", "2.3.1"}) {
    auto old_model = opened_model(version, "binary_crossentropy");
    for (const char* name : {"m.h5", "m.keras"}) {
      CHECK(contains(metrics(*old_model), R"("class_name": "BinaryAccuracy")"));
      CHECK(contains(metrics(*old_model), R"("name": "accuracy")"));
      crescent::save_model(*old_model, scratch.path(name));
      old_model = crescent::load_model(scratch.path(name));
    }
    const Value keras2_config = keras::keras_training_config(old_model->compile_config(), "keras2");
    CHECK(contains(to_json(keras2_config), R"("metrics": ["accuracy", "mean_absolute_error"])"));
    CHECK_FALSE(contains(keras::to_text(keras::incompatibilities_of(
                             model_config(*old_model), old_model->compile_config(), "keras2")),
                         "BinaryAccuracy"));
  }
}

TEST_CASE("masks weigh losses in files of Keras 2.3 to 2.10, through saves of ours too") {
  const auto has_mask_weights = [](const char* version) {
    return ConfigIn({version, ""}).compile_options(Dict()).contains("mask_as_weights");
  };
  for (const char* version : {"2.2.4-tf", "2.3.0-tf", "2.3.1", "2.4.0", "2.10.0"})
    CHECK(has_mask_weights(version));
  for (const char* version : {"1", "2.1.6", "2.2.4", "2.11.0", "2.15.0", "3.15.1"})
    CHECK_FALSE(has_mask_weights(version));
  const auto masked_model = Sequential::make(
      {layer("Masking", {{"input_shape", List{5, 4}}}), layer("GRU", {{"units", 2}})});
  const auto incompatibilities = [&](const char* target) {
    return keras::to_text(keras::incompatibilities_of(model_config(*masked_model),
                                                      masked_model->compile_config(), target));
  };
  const char* word = "mask_as_weights";
  masked_model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  CHECK(contains(incompatibilities("keras2"), word));
  CHECK_FALSE(contains(incompatibilities("keras3"), word));
  masked_model->compile({{"optimizer", "sgd"}, {"loss", "mse"}, {word, true}});
  CHECK(contains(incompatibilities("keras3"), word));
  CHECK_FALSE(contains(incompatibilities("keras2"), word));
  Scratch scratch;
  for (const char* name : {"m.h5", "m.keras"}) {
    crescent::save_model(*masked_model, scratch.path(name));
    const auto loaded_model = crescent::load_model(scratch.path(name));
    CHECK(loaded_model->compile_config().as_dict().at(word) == Value(true));
  }
}

TEST_CASE("what nobody knows is named by its kind and its place", "[F01]") {
  const char* unknown_config = R"({"class_name": "Strange", "config": {"rate": 1}})";
  const auto unknown_class_message = [&](const std::string& json) {
    return failure([&] { compile_arguments(json.c_str()); });
  };
  CHECK_THAT(unknown_class_message(
                 concat(R"({"optimizer_config": )", unknown_config, R"(, "loss": "mse"})")),
             Catch::Contains("Unknown optimizer: Strange"));
  CHECK_THAT(unknown_class_message(concat(R"({"optimizer": "sgd", "loss": )", unknown_config, "}")),
             Catch::Contains("Unknown loss: Strange"));
  CHECK_THAT(unknown_class_message(concat(R"({"optimizer": "sgd", "loss": "mse", "metrics": [)",
                                          unknown_config, "]}")),
             Catch::Contains("Unknown metric: Strange"));
  CHECK_THAT(unknown_class_message(concat(
                 R"({"optimizer_config": {"class_name": "SGD", "config": {"learning_rate": )",
                 unknown_config, R"(}}, "loss": "mse"})")),
             Catch::Contains("Unknown schedule: Strange") &&
                 Catch::Contains("option 'learning_rate' of optimizer SGD"));
}

TEST_CASE("a layer that is called as in training stays so when it predicts, through files too") {
  Scratch scratch;
  const Symbol in = Input({200});
  const auto dropout = layer("Dropout", {{"rate", 0.5}, {"seed", 3}});
  const auto model = Functional::make({in}, {(*dropout)(in, {.training = true})});
  const auto zeros = [](Model& tested_model) {
    const Tensor y = tested_model.predict({Tensor::full({4, 200}, 1)}).front();
    return ops::sum(ops::cast(ops::equal(y, 0), DType::float32)).item();
  };
  CHECK(zeros(*model) > 200);
  for (const char* name : {"m.h5", "m.keras"}) {
    crescent::save_model(*model, scratch.path(name));
    CHECK(zeros(*crescent::load_model(scratch.path(name))) > 200);
  }
}

}  // namespace
}  // namespace crescent::hdf5
