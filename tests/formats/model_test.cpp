// Saved and loaded models: they give the same predictions and the same results of further training,
// and errors have understandable messages.
#include "keras/model/training_state.h"
#include "keras_file.h"
#include "models.h"
#include "tensors.h"

namespace crescent::hdf5 {
namespace {

const Dict kCompile{{"optimizer", "adam"},
                    {"loss", "sparse_categorical_crossentropy"},
                    {"metrics", List{"accuracy"}}};
const Dict kFit{{"epochs", 2}, {"batch_size", 16}, {"verbose", 0}};

TEST_CASE("a Sequential predicts the same after saving and loading") {
  Scratch scratch;
  auto model = small_sequential();
  crescent::save_model(*model, scratch.path("m.h5"));
  auto loaded_model = crescent::load_model(scratch.path("m.h5"));
  CHECK(loaded_model->name() == "small");
  CHECK(loaded_model->class_name() == "Sequential");
  CHECK(model_config(*loaded_model) == model_config(*model));
  check_same(model->predict({ramp({5, 4})}), loaded_model->predict({ramp({5, 4})}));
}

TEST_CASE("loading a model draws no initial values: all come from the file") {
  Scratch scratch;
  auto draw_count = [] { return global_random().state().value().to_vector()[1]; };
  double draws_before = draw_count();
  auto model = Sequential::make({layer("Dense", {{"units", 8}, {"input_shape", List{4}}})});
  double draws_after_making = draw_count();
  crescent::save_model(*model, scratch.path("m.h5"));
  auto loaded_model = crescent::load_model(scratch.path("m.h5"));
  // Making the model draws one number more than loading it: for the initial value of the kernel.
  CHECK(draw_count() - draws_after_making == draws_after_making - draws_before - 1);
  check_same(model->get_weights(), loaded_model->get_weights());
}

TEST_CASE("training goes on bit for bit: optimizer, dropout, order of samples") {
  Dict decaying_rate =
      configured("ExponentialDecay",
                 {{"initial_learning_rate", 0.01}, {"decay_steps", 3}, {"decay_rate", 0.5}});
  const Value optimizers[] = {
      "adam",
      configured("SGD", {{"momentum", 0.9},
                         {"nesterov", true},
                         {"use_ema", true},
                         {"clipnorm", 1.0},
                         {"weight_decay", 0.01}}),
      configured("Adam", {{"amsgrad", true}, {"gradient_accumulation_steps", 3}}),
      configured("RMSprop", {{"learning_rate", decaying_rate}}),
  };
  for (const Value& optimizer : optimizers) {
    CAPTURE(to_text(optimizer));
    Scratch scratch;
    auto model = small_sequential();
    Dict options = kCompile;
    options.set("optimizer", optimizer);
    model->compile(options);
    Tensor x = ramp({100, 4}), y = labels(100, 3);
    model->fit({x}, {y}, kFit);
    crescent::save_model(*model, scratch.path("m.h5"));
    auto loaded_model = crescent::load_model(scratch.path("m.h5"));
    REQUIRE(loaded_model->compiled());
    CHECK(loaded_model->epochs_trained() == model->epochs_trained());
    auto original_history = model->fit({x}, {y}, kFit),
         loaded_history = loaded_model->fit({x}, {y}, kFit);
    CHECK(original_history->at("loss") == loaded_history->at("loss"));
    check_same(model->get_weights(), loaded_model->get_weights());
  }
}

TEST_CASE("half-width weights keep their bits") {
  for (const char* dtype : {"bfloat16", "float16", "float64"}) {
    CAPTURE(dtype);
    Scratch scratch;
    auto model = Sequential::make(
        {layer("Dense", {{"units", 3}, {"input_shape", List{4}}, {"dtype", dtype}})});
    crescent::save_model(*model, scratch.path("m.h5"));
    check_same(model->get_weights(), crescent::load_model(scratch.path("m.h5"))->get_weights());
  }
}

TEST_CASE("an optimizer can be left out, and compiling can be declined") {
  Scratch scratch;
  auto model = small_sequential();
  model->compile(kCompile);
  crescent::save_model(*model, scratch.path("bare.h5"), {{"include_optimizer", false}});
  CHECK_FALSE(crescent::load_model(scratch.path("bare.h5"))->compiled());
  crescent::save_model(*model, scratch.path("full.h5"));
  CHECK_FALSE(crescent::load_model(scratch.path("full.h5"), {{"compile", false}})->compiled());
}

std::shared_ptr<Functional> nested_graph() {
  auto inner_model = Sequential::make(
      {layer("Dense", {{"units", 4}, {"input_shape", List{4}}, {"name", "in_inner"}})}, "inner");
  auto shared_layer = layer("Dense", {{"units", 2}, {"name", "shared"}});
  Symbol a = Input(Shape{4}, "a"), b = Input(Shape{4}, "b");
  Symbol left_output = (*shared_layer)((*inner_model)(a)),
         right_output = (*shared_layer)((*inner_model)(b));
  Symbol sum =
      (*layer("Add", {{"name", "sum"}}))(std::vector<Symbol>{left_output, right_output}).front();
  return Functional::make({a, b}, {sum, left_output}, "graph");
}

TEST_CASE("shared layers and models inside models") {
  Scratch scratch;
  auto model = nested_graph();
  Tensors x{ramp({3, 4}), ramp({3, 4}, 0.02)};
  for (const char* target : {"keras3", "keras2"}) {
    CAPTURE(target);
    crescent::save_model(*model, scratch.path("m.h5"), {{"target", target}});
    auto loaded_model = crescent::load_model(scratch.path("m.h5"));
    CHECK(model_config(*loaded_model) == model_config(*model));
    check_same(model->predict(x), loaded_model->predict(x));
  }
}

TEST_CASE("what is written for Keras reads back without our own attribute") {
  Scratch scratch;
  auto model = nested_graph();
  Tensors x{ramp({3, 4}), ramp({3, 4}, 0.02)};
  for (const char* target : {"keras3", "keras2"}) {
    crescent::save_model(*model, scratch.path("m.h5"), {{"target", target}});
    std::string bytes = read_bytes(scratch.path("m.h5"));
    size_t attribute = bytes.find(std::string("crescent\0", 9));
    REQUIRE(attribute != bytes.npos);
    bytes.replace(attribute, 8, "crescend");
    write_bytes(scratch.path("foreign.h5"), bytes);
    auto loaded_model = crescent::load_model(scratch.path("foreign.h5"));
    check_same(model->predict(x), loaded_model->predict(x));
  }
}

TEST_CASE("weights alone: in order, by name, leaving out what does not fit") {
  Scratch scratch;
  auto model = small_sequential();
  crescent::save_weights(*model, scratch.path("w.h5"));
  auto other_model = small_sequential();
  crescent::load_weights(*other_model, scratch.path("w.h5"));
  check_same(model->get_weights(), other_model->get_weights());

  auto wider_model =
      Sequential::make({layer("Dense", {{"units", 8}, {"input_shape", List{4}}, {"name", "first"}}),
                        layer("Dense", {{"units", 5}, {"name", "last"}})});
  Tensors weights_before = wider_model->get_weights();
  Dict by_name_options{{"by_name", true}};
  std::string message =
      failure([&] { crescent::load_weights(*wider_model, scratch.path("w.h5"), by_name_options); });
  CHECK(contains(message,
                 "(named \"last\"), weight last/kernel has shape (8, 5), but the saved weight has "
                 "shape (8, 3)."));
  message = failure([&] { crescent::load_weights(*wider_model, scratch.path("w.h5")); });
  CHECK(contains(message, "not compatible with provided weight shape"));
  check_same(wider_model->get_weights(), weights_before);

  by_name_options.set("skip_mismatch", true);
  crescent::load_weights(*wider_model, scratch.path("w.h5"), by_name_options);
  check_same(wider_model->get_weights()[0], model->get_weights()[0]);
  check_same(wider_model->get_weights()[2], weights_before[2]);
}

TEST_CASE("weights of a model's file, and files that do not fit", "[F25]") {
  Scratch scratch;
  auto model = small_sequential();
  crescent::save_model(*model, scratch.path("m.h5"));
  auto other_model = small_sequential();
  crescent::load_weights(*other_model, scratch.path("m.h5"));
  check_same(model->get_weights(), other_model->get_weights());

  auto shorter_model = Sequential::make({layer("Dense", {{"units", 8}, {"input_shape", List{4}}})});
  CHECK(contains(
      failure([&] { crescent::load_weights(*shorter_model, scratch.path("m.h5")); }),
      "You are trying to load a weight file containing 2 layers into a model with 1 layers."));
  crescent::save_weights(*model, scratch.path("w.h5"));
  CHECK(contains(failure([&] { crescent::load_model(scratch.path("w.h5")); }),
                 "No model found in config."));
}

TEST_CASE("weights in Keras 3's layout") {
  Scratch scratch;
  auto model = nested_graph(), other_model = nested_graph();
  crescent::save_weights(*model, scratch.path("m.weights.h5"));
  FileReader file(scratch.path("m.weights.h5"));
  CHECK(file.members("layers") ==
        std::vector<std::string>{"add", "dense", "input_layer", "input_layer_1", "sequential"});
  CHECK(file.text("layers/sequential/layers/dense/vars", "name") == "in_inner");
  crescent::load_weights(*other_model, scratch.path("m.weights.h5"));
  check_same(model->get_weights(), other_model->get_weights());
  CHECK(contains(
      failure([&] { crescent::load_weights(*small_sequential(), scratch.path("m.weights.h5")); }),
      "does not have"));
}

/// The kernel as CuDNNLSTM and CuDNNGRU store it: the block of each gate is transposed.
Tensor cudnn_kernel(const Tensor& kernel, int64_t gates) {
  Tensor result(kernel.spec());
  int64_t rows = kernel.dim(0), width = kernel.dim(1), units = width / gates;
  for (int64_t gate = 0; gate < gates; ++gate)
    for (int64_t i = 0; i < rows * units; ++i)
      result.mutable_data<float>()[i / units * width + gate * units + i % units] =
          kernel.data<float>()[i % rows * width + gate * units + i / rows];
  return result;
}

TEST_CASE("recurrent layers that a GPU trained under Keras 2") {
  Scratch scratch;
  for (const char* name : {"LSTM", "GRU"}) {
    CAPTURE(name);
    int64_t gates = std::string(name) == "LSTM" ? 4 : 3;
    auto model =
        Sequential::make({layer(name, {{"units", 3}, {"input_shape", List{5, 2}}, {"name", "r"}})});
    Tensors weights{ramp({2, 3 * gates}), ramp({3, 3 * gates}, 0.02), ramp({6 * gates})};
    Tensor bias = weights[2];
    Tensor summed_bias =
        ops::add(bias.view_rows(0, 3 * gates), bias.view_rows(3 * gates, 3 * gates));
    model->set_weights({weights[0], weights[1], gates == 4 ? summed_bias : bias.view({2, 9})});

    Dict entry =
        configured(std::string("CuDNN") + name, {{"name", "r"},
                                                 {"units", 3},
                                                 {"batch_input_shape", List{Value(), 5, 2}},
                                                 {"return_sequences", false}});
    Dict config = configured("Sequential", {{"name", "s"}, {"layers", List{entry}}});
    std::vector<std::string> names{"r/kernel:0", "r/recurrent_kernel:0", "r/bias:0"};
    write_tree(
        scratch.path("m.h5"),
        {{"", {{"model_config", to_json(config)}, {"keras_version", std::string("2.2.4")}}, {}},
         {"model_weights", {{"layer_names", std::vector<std::string>{"r"}}}, {}},
         {"model_weights/r", {{"weight_names", names}}, {}},
         dataset_node("model_weights/r/r/kernel:0", cudnn_kernel(weights[0], gates)),
         dataset_node("model_weights/r/r/recurrent_kernel:0", cudnn_kernel(weights[1], gates)),
         dataset_node("model_weights/r/r/bias:0", bias)});
    auto loaded_model = crescent::load_model(scratch.path("m.h5"));
    check_same(model->get_weights(), loaded_model->get_weights());
    check_same(model->predict({ramp({4, 5, 2})}), loaded_model->predict({ramp({4, 5, 2})}));
  }
}

TEST_CASE("classes that are not there are named", "[F01]") {
  Scratch scratch;
  auto with_class = [&](const std::string& name) {
    Dict entry{{"class_name", name}, {"config", Dict{{"name", "odd"}}}};
    Dict config{{"class_name", "Sequential"},
                {"config", Dict{{"name", "s"}, {"layers", List{entry}}}}};
    write_tree(
        scratch.path("m.h5"),
        {{"", {{"model_config", to_json(config)}, {"keras_version", std::string("2.3.1")}}, {}}});
    return failure([&] { crescent::load_model(scratch.path("m.h5")); });
  };
  std::string message = with_class("Dens");
  CHECK(contains(message, "Unknown layer: Dens"));
  CHECK(contains(message, "'odd'"));
  CHECK(contains(message, "did you mean 'Dense'?"));
  CHECK(contains(with_class("Lambda"), "never loaded from a file"));
  CHECK(contains(with_class("os.system"), "Unknown layer: os.system"));
}

TEST_CASE("a class of a plugin that is not loaded: which one it was", "[P11]") {
  Scratch scratch;
  Dict entry{{"class_name", "Scale"}, {"config", Dict{{"name", "mine"}}}};
  Dict config{{"class_name", "Sequential"},
              {"config", Dict{{"name", "s"}, {"layers", List{entry}}}}};
  Dict attribute{{"model", config}, {"plugins", Dict{{"Scale", List{"acme.scale", "1.2.0"}}}}};
  write_tree(scratch.path("m.h5"), {{"", {{"crescent", to_json(attribute)}}, {}}});
  std::string message = failure([&] { crescent::load_model(scratch.path("m.h5")); });
  CHECK(contains(message, "Unknown layer: Scale (layer 'mine')"));
  CHECK(contains(message, "\"acme.scale\", version \"1.2.0\""));
}

std::string warning_text;  // NOLINT: set by the warning handler

TEST_CASE("an optimizer's state that does not fit starts anew, with Keras' warning") {
  Scratch scratch;
  auto model = small_sequential();
  model->compile(kCompile);
  Tensor x = ramp({20, 4}), y = labels(20, 3);
  model->fit({x}, {y}, kFit);
  crescent::save_model(*model, scratch.path("m.h5"));
  KerasFile file(scratch.path("m.h5"));
  CHECK(keras::match_optimizer(file, *model, {}, {}).size() == model->optimizer()->state().size());
  model->compile({{"optimizer", configured("SGD", {{"momentum", 0.9}})}, {"loss", "mse"}});
  model->optimizer()->build(model->trainable_weights());
  set_warning_handler([](std::string_view text) { warning_text += text; });
  CHECK(keras::match_optimizer(file, *model, {}, {}).empty());
  set_warning_handler(nullptr);
  CHECK(
      contains(warning_text, "freshly initialized optimizer: expected 6 arrays, the file has 10"));
  CHECK(contains(warning_text, scratch.path("m.h5")));
}

TEST_CASE("configurations that are no configurations") {
  Scratch scratch;
  auto load = [&](const std::string& config) {
    write_tree(scratch.path("m.h5"), {{"", {{"model_config", config}}, {}}});
    return failure([&] { crescent::load_model(scratch.path("m.h5")); });
  };
  for (const char* config :
       {"", "{", "[]", "3", "null", R"({"class_name": 3})", R"({"class_name": "Sequential"})",
        R"({"class_name": "Sequential", "config": {"layers": 3}})",
        R"({"class_name": "Sequential", "config": {"layers": [3]}})",
        R"({"class_name": "Model", "config": {"layers": [], "input_layers": 3,
         "output_layers": {}}})",
        R"({"class_name": "Model", "config": {"layers": [{"class_name": "Dense",
         "config": {}}]}})"}) {
    CAPTURE(config);
    CHECK(contains(load(config), scratch.path("m.h5")));
  }
}

TEST_CASE("damaged model files never end the process and never load half", "[F14][F25]") {
  Scratch scratch;
  auto model = small_sequential();
  model->compile(kCompile);
  crescent::save_model(*model, scratch.path("m.h5"));
  std::string original_bytes = read_bytes(scratch.path("m.h5"));
  uint64_t state = 88172645463325252ull;
  auto random = [&] { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; };
  int loaded_count = 0, refused_count = 0;
  for (int i = 0; i < 100; ++i) {
    std::string changed_bytes = original_bytes;
    for (int change_index = 0; change_index < 8; ++change_index)
      changed_bytes[random() % changed_bytes.size()] = static_cast<char>(random());
    write_bytes(scratch.path("mutant.h5"), changed_bytes);
    Tensors weights_before = model->get_weights();
    try {
      crescent::load_weights(*model, scratch.path("mutant.h5"));
      // If loading succeeds no number has changed, since the checksums detect every change.
      check_same(model->get_weights(), weights_before);
      ++loaded_count;
    } catch (const Error&) {
      check_same(model->get_weights(), weights_before);
      ++refused_count;
    }
  }
  CHECK(loaded_count + refused_count == 100);
  CHECK(refused_count > 0);
}

TEST_CASE("overwriting can be declined") {
  Scratch scratch;
  auto model = small_sequential();
  const Dict no_overwrite{{"overwrite", false}};
  crescent::save_model(*model, scratch.path("m.h5"), no_overwrite);
  CHECK(contains(failure([&] { crescent::save_model(*model, scratch.path("m.h5"), no_overwrite); }),
                 "exists"));
}

TEST_CASE("options that a format does not have are refused, with the right one") {
  Scratch scratch;
  auto model = small_sequential();
  const std::string path = scratch.path("m.h5");
  CHECK(contains(failure([&] {
                   crescent::save_model(*model, path, {{"targett", "keras2"}});
                 }),
                 "hdf5: saving a model: no option 'targett' (did you mean 'target'?)"));
  CHECK(contains(failure([&] {
                   crescent::save_model(*model, path, {{"target", "keras4"}});
                 }),
                 "keras4"));
  CHECK(contains(failure([&] {
                   crescent::save_weights(*model, path, {{"target", "keras2"}});
                 }),
                 "hdf5: saving weights: no option 'target'"));
  CHECK(scratch.count() == 0);
  crescent::save_model(*model, path);
  CHECK(contains(failure([&] {
                   crescent::load_model(path, {{"by_name", true}});
                 }),
                 "hdf5: loading a model: no option 'by_name'"));
  CHECK(contains(failure([&] {
                   crescent::load_weights(*model, path, {{"by_nam", true}});
                 }),
                 "hdf5: loading weights: no option 'by_nam' (did you mean 'by_name'?)"));
}

}  // namespace
}  // namespace crescent::hdf5
