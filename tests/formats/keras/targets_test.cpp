// Files written for Keras 3 and for Keras 2.3.1 where the two versions contradict each other, and
// parts of models that these versions cannot express.
#include "keras/configs/config_in.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/incompatibilities.h"
#include "keras/configs/training_config_out.h"
#include "keras/vocabulary/objects.h"
#include "models.h"

namespace crescent::keras {
namespace {

using hdf5::configured;
using hdf5::contains;
using hdf5::failure;
using hdf5::layer;
using hdf5::Scratch;

ModelPtr model_of_one_layer(const std::string& name, Dict options) {
  return Sequential::make(
      {layer("InputLayer", {{"batch_input_shape", List{Value(), 5, 4}}}), layer(name, options)},
      "s");
}

Value training_config_for(const Dict& compile, const std::string& target) {
  auto model = hdf5::small_sequential();
  model->compile(compile);
  return keras_training_config(model->compile_config(), target);
}

TEST_CASE("losses and metrics are named as the generation names its functions") {
  const Dict compile{
      {"optimizer", "sgd"}, {"loss", "kld"}, {"metrics", List{"mse", "accuracy", "mae", "rmse"}}};
  const Value keras3 = training_config_for(compile, "keras3"),
              keras2 = training_config_for(compile, "keras2");
  CHECK(to_json(keras3.as_dict().at("loss")) == R"("kl_divergence")");
  CHECK(to_json(keras2.as_dict().at("loss")) == R"("kullback_leibler_divergence")");
  CHECK(to_json(keras3.as_dict().at("metrics")) ==
        R"(["mean_squared_error", "accuracy", "mean_absolute_error", "root_mean_squared_error"])");
  CHECK(to_json(keras2.as_dict().at("metrics")) ==
        R"(["mean_squared_error", "accuracy", "mean_absolute_error", )"
        R"({"class_name": "RootMeanSquaredError", "config": {}}])");
}

TEST_CASE("an optimizer has the options that the generation knows") {
  const Dict clipped_options{
      {"optimizer", configured("SGD", {{"global_clipnorm", 0.5}, {"name", "mine"}})},
      {"loss", "huber"}};
  CHECK(to_json(training_config_for(clipped_options, "keras3").as_dict().at("optimizer_config")) ==
        R"({"class_name": "SGD", "config": {"name": "mine", "global_clipnorm": 0.5, )"
        R"("learning_rate": 0.01, "momentum": 0.0, "nesterov": false}})");
  CHECK(to_json(training_config_for(clipped_options, "keras2").as_dict().at("optimizer_config")) ==
        R"({"class_name": "SGD", "config": {"learning_rate": 0.01, "momentum": 0.0, )"
        R"("nesterov": false, "clipnorm": 0.5}})");
  CHECK(training_config_for(clipped_options, "keras2").as_dict().at("loss") == Value("huber_loss"));

  const Dict decay_config{{"initial_learning_rate", 0.5}, {"decay_steps", 1}, {"decay_rate", 0.1}};
  const Dict scheduled_options{
      {"optimizer",
       configured("Adagrad", {{"learning_rate", configured("InverseTimeDecay", decay_config)}})},
      {"loss", "mse"}};
  const Value keras2 = training_config_for(scheduled_options, "keras2"),
              keras3 = training_config_for(scheduled_options, "keras3");
  CHECK(contains(to_json(keras2), R"("learning_rate": 0.5)"));
  CHECK(contains(to_json(keras2), R"("decay": 0.1)"));
  CHECK(contains(to_json(keras3), R"("learning_rate": {"module": "keras.optimizers.schedules", )"
                                  R"("class_name": "InverseTimeDecay")"));
}

TEST_CASE("objects inside others say their module to Keras 3, layers of models do not") {
  auto model = model_of_one_layer(
      "RNN", {{"cell", configured("StackedRNNCells",
                                  {{"cells", List{configured("LSTMCell", {{"units", 2}})}}})},
              {"name", "r"}});
  const std::string keras3 = to_json(keras_model_config(model_config(*model), "keras3")),
                    keras2 = to_json(keras_model_config(model_config(*model), "keras2"));
  CHECK(contains(keras3, R"({"module": "keras.layers", "class_name": "LSTMCell")"));
  CHECK(contains(keras3, R"({"module": "keras.initializers", "class_name": "Zeros")"));
  CHECK_FALSE(contains(keras3, R"({"module": "keras.layers", "class_name": "RNN")"));
  CHECK_FALSE(contains(keras2, "module"));
}

TEST_CASE("classes of others are theirs to bring: no module, and no limit of Keras 2") {
  ClassInfo other_info;
  other_info.origin = "/elsewhere/libscale.so";
  CHECK(is_foreign(other_info));
  other_info.origin = "Lua";
  CHECK(is_foreign(other_info));
  CHECK_FALSE(is_foreign(*registry().get("layer", "Dense")));
  CHECK_FALSE(is_foreign(*registry().get("layer", "InputLayer")));
}

TEST_CASE("a Lambda of a built-in function is an Activation, which every Keras reads") {
  const Value model =
      configured("Sequential",
                 {{"name", "s"},
                  {"layers", List{configured("Lambda", {{"name", "l"}, {"function", "relu"}})}}});
  for (const char* target : {"keras3", "keras2"})
    CHECK(
        contains(to_json(keras_model_config(model, target)),
                 R"({"class_name": "Activation", "config": {"name": "l", "activation": "relu"}})"));
}

std::vector<std::string> incompatibilities(Model& model, const std::string& target,
                                           const Value& compile = {}) {
  std::vector<std::string> lines;
  for (const Incompatibility& incompatibility :
       incompatibilities_of(model_config(model), compile, target))
    if (incompatibility.is_serious)
      lines.push_back(concat(incompatibility.location, "/", incompatibility.option, ": ",
                             incompatibility.reason));
  return lines;
}

TEST_CASE("what Keras 2.3.1 has no words for is listed: place, option, reason") {
  using Lines = std::vector<std::string>;
  CHECK(incompatibilities(*model_of_one_layer("LayerNormalization", {{"name", "n"}}), "keras2") ==
        Lines{"layer 'n'/: Keras 2.3.1 has no layer 'LayerNormalization'"});
  CHECK(incompatibilities(
            *model_of_one_layer("Dense", {{"units", 2}, {"activation", "gelu"}, {"name", "d"}}),
            "keras2") == Lines{"layer 'd'/activation: Keras 2.3.1 has no activation 'gelu'"});
  CHECK(incompatibilities(
            *model_of_one_layer("Conv1D",
                                {{"filters", 2}, {"kernel_size", 1}, {"groups", 2}, {"name", "c"}}),
            "keras2") == Lines{"layer 'c'/groups: Keras 2.3.1 has no such option of Conv1D"});
  CHECK(
      incompatibilities(
          *model_of_one_layer("Dense", {{"units", 2}, {"dtype", "mixed_bfloat16"}, {"name", "d"}}),
          "keras2") == Lines{"layer 'd'/dtype: Keras 2.3.1 has no dtype 'mixed_bfloat16'"});
  CHECK(incompatibilities(*model_of_one_layer("Dense", {{"units", 2}}), "keras2").empty());

  auto model = hdf5::small_sequential();
  const auto compile_options = [&](const Value& optimizer) {
    model->compile({{"optimizer", optimizer}, {"loss", "mse"}});
    return incompatibilities(*model, "keras2", model->compile_config());
  };
  CHECK(compile_options("lion") == Lines{"optimizer/: Keras 2.3.1 has no optimizer 'Lion'"});
  CHECK(compile_options(configured("RMSprop", {{"momentum", 0.5}})) ==
        Lines{"optimizer/momentum: Keras 2.3.1 has no such option of RMSprop"});
  CHECK(compile_options(configured("SGD", {{"clipnorm", 0.5}})) ==
        Lines{"optimizer/clipnorm: Keras 2.3.1 clips the norm of all gradients together"});
  CHECK(compile_options("adam").empty());
}

TEST_CASE("a file is not written when Keras 2 cannot express the model") {
  Scratch scratch;
  auto model = model_of_one_layer("LayerNormalization", {{"name", "n"}});
  const std::string path = scratch.path("m.h5");
  const std::string message = failure([&] {
    crescent::save_model(*model, path, {{"target", "keras2"}});
  });
  CHECK(contains(message, "nothing was written:\n  layer 'n': Keras 2.3.1 has no layer"));
  CHECK(scratch.count() == 0);
}

std::string last_warning;  // NOLINT: set by the warning handler

TEST_CASE("a meaning of Keras 2 stays through any number of saves, and Keras 3 is warned of") {
  Scratch scratch;
  const Value old_config =
      parse_json(R"({"class_name": "Sequential", "config": [{"class_name": "Dense",
    "config": {"name": "d", "units": 2, "batch_input_shape": [null, 4],
      "activation": "hard_sigmoid", "activity_regularizer": {"class_name": "L1L2",
        "config": {"l1": 0.5, "l2": 0.0}}}}]})");
  ModelPtr model = model_from_config(ConfigIn({"2.1.6", "tensorflow"}).model(old_config));
  const Tensor x = hdf5::ramp({3, 4}), output_before = model->predict({x}).front();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  for (const char* target : {"keras3", "keras2", "keras3", "keras2"}) {
    crescent::save_model(*model, scratch.path("m.h5"), {{"target", target}});
    model = crescent::load_model(scratch.path("m.h5"));
    hdf5::check_same(model->predict({x}).front(), output_before);
  }
  set_warning_handler(nullptr);
  CHECK(contains(last_warning, "layer 'd', option 'activation': Keras 3's hard_sigmoid"));
  CHECK(contains(last_warning, "layer 'd', option 'activity_regularizer': Keras 3 divides"));
  CHECK(contains(failure([&] { model->to_json(); }), "pass target = \"keras2\""));
  const std::string json = model->to_json({{"target", "keras2"}});
  CHECK(contains(json, R"("activation": "hard_sigmoid")"));
  const std::string rewritten = to_json(model_config(*model_from_json(json)));
  CHECK(contains(rewritten, R"("activation": "hard_sigmoid_keras2")"));
  CHECK(contains(rewritten, R"("activity_regularizer": {"class_name": "ActivityKeras2")"));
}

TEST_CASE("penalties that Keras 3 loses are reported, and left out of its files") {
  const auto incompatibilities = [](const std::string& name, const Dict& options) {
    const auto model = Sequential::make({layer(name, options)}, "s");
    return keras::to_text(keras::incompatibilities_of(model_config(*model), {}, "keras3"));
  };
  const Value dense_config =
      Dict{{"class_name", "Dense"},
           {"config", Dict{{"name", "d"}, {"units", 2}, {"activity_regularizer", "l2"}}}};
  const Dict wrapper_options{{"layer", dense_config}, {"input_shape", List{5, 4}}};
  CHECK(contains(incompatibilities("TimeDistributed", wrapper_options),
                 "leaves it out of what is in a TimeDistributed"));
  const Dict recurrent_options{
      {"units", 2}, {"activity_regularizer", "l2"}, {"input_shape", List{5, 4}}};
  CHECK(
      contains(incompatibilities("SimpleRNN", recurrent_options), "leaves it out of a SimpleRNN"));
  CHECK(incompatibilities("LSTM", recurrent_options).empty());

  const Value stacked_cells =
      Dict{{"class_name", "Sequential"},
           {"config", List{Value(configured("TimeDistributed", {{"layer", dense_config}}))}}};
  const auto penalty_of = [&](const char* version) {
    return contains(to_json(ConfigIn({version, "torch"}).model(stacked_cells)),
                    "activity_regularizer");
  };
  set_warning_handler([](std::string_view text) { last_warning += text; });
  CHECK(penalty_of("2.15.0"));
  CHECK_FALSE(penalty_of("3.15.1"));
  set_warning_handler(nullptr);
  CHECK(contains(last_warning, "layer 'd': Keras 3 calls what is in a TimeDistributed without"));
}

TEST_CASE("formulas of Keras 2.3.1 stay through any number of saves") {
  Scratch scratch;
  const Value old_config = parse_json(R"({"class_name": "Sequential", "config": [
    {"class_name": "UpSampling2D", "config": {"name": "u", "size": [2, 2],
      "interpolation": "bilinear", "batch_input_shape": [null, 2, 2, 3]}},
    {"class_name": "BatchNormalization", "config": {"name": "b", "epsilon": 0.5}},
    {"class_name": "ActivityRegularization", "config": {"name": "r", "l1": 0.5, "l2": 0.0}}]})");
  const ConfigIn reader({"2.2.4", "tensorflow"});
  ModelPtr model = model_from_config(reader.model(old_config));
  model->compile(reader.compile_options(parse_json(
      R"({"optimizer_config": {"class_name": "Adagrad", "config": {}}, "loss": "mse"})")));
  set_warning_handler([](std::string_view text) { last_warning += text; });
  for (const char* name : {"m.h5", "m.keras", "m.h5"}) {
    const Value config = model_config(*model);
    CHECK(contains(to_json(config), R"("interpolation": "bilinear_keras2")"));
    CHECK(contains(to_json(config), R"("moving_variance_ddof": 1.5)"));
    for (const char* option : {"whole_batch", "batch_when_frozen", "count_masked"})
      CHECK(contains(to_json(config), concat("\"", option, "\": true")));
    const std::string compile_json = to_json(model->compile_config());
    CHECK(contains(compile_json, R"("initial_accumulator_value": 0.0)"));
    CHECK(contains(compile_json, R"("epsilon_outside": true)"));
    for (const Value& written : {keras3_model_config(config), keras_model_config(config, "keras3"),
                                 keras_model_config(config, "keras2")}) {
      CHECK(contains(to_json(written), R"("interpolation": "bilinear")"));
      CHECK_FALSE(contains(to_json(written), "moving_variance_ddof"));
      for (const char* option : {"whole_batch", "batch_when_frozen", "count_masked"})
        CHECK_FALSE(contains(to_json(written), option));
    }
    CHECK_FALSE(any_serious(incompatibilities_of(config, model->compile_config(), "keras2")));
    crescent::save_model(*model, scratch.path(name));
    model = crescent::load_model(scratch.path(name));
  }
  set_warning_handler(nullptr);
  CHECK(contains(last_warning, "layer 'b', option 'moving_variance_ddof': Keras 3's formula of"));
}

TEST_CASE("Keras 3's archive has Keras' names for formulas of Keras 2") {
  auto model = model_of_one_layer(
      "Dense", {{"units", 2},
                {"activation", "hard_sigmoid_keras2"},
                {"activity_regularizer", configured("ActivityKeras2", {{"regularizer", "l2"}})},
                {"kernel_initializer", "identity"}});
  const std::string written = to_json(keras3_model_config(model_config(*model)));
  CHECK(contains(written, R"("activation": "hard_sigmoid")"));
  CHECK(contains(written,
                 R"("activity_regularizer": {"module": "keras.regularizers", "class_name": "L2")"));
  CHECK(contains(written, R"("module": "keras.initializers", "class_name": "Identity")"));
}

}  // namespace
}  // namespace crescent::keras
