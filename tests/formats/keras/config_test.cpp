// Conversion of configurations between the versions of Keras, without files.
#include "keras/configs/config_in.h"

#include "keras/configs/config_out.h"
#include "models.h"

namespace crescent::keras {
namespace {

using hdf5::layer;

Value read(const char* json, const char* version) {
  return ConfigIn({version, "tensorflow"}).model(parse_json(json));
}

const Dict& layer_config(const Value& model, size_t i) {
  return model.as_dict()
      .at("config")
      .as_dict()
      .at("layers")
      .as_list()
      .at(i)
      .as_dict()
      .at("config")
      .as_dict();
}

TEST_CASE("Keras 3 writes objects with modules, policies and batch_shape") {
  Value model = read(
      R"({"class_name": "Sequential", "module": "keras", "config": {"name": "s", "trainable": true,
    "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}},
    "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 4], "dtype": "float32",
        "sparse": false, "ragged": false,
        "name": "in", "optional": false}},
      {"module": "keras.layers", "class_name": "Dense", "registered_name": null,
        "build_config": {"input_shape": [null, 4]},
       "config": {"name": "d", "dtype": {"module": "keras", "class_name": "DTypePolicy",
         "config": {"name": "float32"}},
        "units": 2, "activation": {"module": "builtins", "class_name": "function",
          "config": "relu"},
        "kernel_initializer": {"module": "keras.initializers", "class_name": "GlorotUniform",
          "config": {"seed": null},
          "registered_name": null}, "quantization_config": null}}]}})",
      "3.15.1");
  CHECK(*layer_config(model, 0).find("batch_shape") == Value(List{Value(), 4}));
  const Dict& dense = layer_config(model, 1);
  CHECK(dense.at("dtype") == Value("float32"));
  CHECK(dense.at("activation") == Value("relu"));
  CHECK(dense.at("quantization_config").is_null());
  CHECK(dense.at("kernel_initializer").as_dict().keys() ==
        std::vector<std::string>{"class_name", "config"});
  CHECK(model_from_config(model)->count_params() == 10);
}

TEST_CASE("a layer inside another is a layer, whatever else has its name") {
  const Value model = read(
      R"({"class_name": "Sequential", "module": "keras", "config": {"name": "s", "layers": [
      {"module": "keras.layers", "class_name": "TimeDistributed", "config": {"name": "t",
        "layer": {"module": "keras.layers", "class_name": "Flatten",
          "config": {"name": "inside", "data_format": "channels_first"}}}}]}})",
      "3.15.1");
  const Dict& inner_config = layer_config(model, 0).at("layer").as_dict().at("config").as_dict();
  CHECK(inner_config.at("name") == Value("inside"));
  CHECK(inner_config.at("data_format") == Value("channels_first"));
}

TEST_CASE("before 2.2.3 a Sequential is a bare list") {
  Value model = read(R"({"class_name": "Sequential", "config": [{"class_name": "Dense", "config":
    {"name": "d", "units": 2, "batch_input_shape": [null, 4], "activation": "hard_sigmoid"}}]})",
                     "2.1.6");
  CHECK(layer_config(model, 0).at("activation") == Value("hard_sigmoid_keras2"));
  CHECK(model_from_config(model)->count_params() == 10);
}

/// The configuration of a graph in which the layer Add adds two results of an inner model.
/// `options` are further options of Add as JSON, beginning with a comma.
std::string graph_of(const char* nodes_of_add, const std::string& options = "") {
  return std::string(R"({"class_name": "Model", "config": {"name": "g", "layers": [
    {"class_name": "InputLayer", "name": "a", "config": {"batch_input_shape": [null, 4],
      "name": "a"}, "inbound_nodes": []},
    {"class_name": "Sequential", "name": "inner", "config": {"name": "inner", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 4,
        "batch_input_shape": [null, 4]}}]},
     "inbound_nodes": [[["a", 0, 0, {}]], [["a", 0, 0, {}]]]},
    {"class_name": "Add", "name": "sum", "config": {"name": "sum", "trainable": true)") +
         options + R"(}, "inbound_nodes": )" + nodes_of_add +
         R"(}], "input_layers": [["a", 0, 0]], "output_layers": ["sum", 0, 0]}})";
}

TEST_CASE("calls of a model inside a model count from 1 in Keras 2 and from 0 here") {
  Value from_one =
      read(graph_of(R"([[["inner", 1, 0, {}], ["inner", 2, 0, {}]]])").c_str(), "2.3.1");
  Value from_zero = read(graph_of(R"([{"args": [[
    {"class_name": "__keras_tensor__", "config": {"keras_history": ["inner", 0, 0]}},
    {"class_name": "__keras_tensor__", "config": {"keras_history": ["inner", 1, 0]}}]],
      "kwargs": {"mask": null}}])",
                                  R"(, "mask_all": true)")
                             .c_str(),
                         "3.15.1");
  CHECK(from_one == from_zero);
  CHECK(from_one.as_dict().at("config").as_dict().at("output_layers") ==
        Value(List{List{"sum", 0, 0}}));

  auto node_of_sum = [](const Value& json) {
    return json.as_dict()
        .at("config")
        .as_dict()
        .at("layers")
        .as_list()[2]
        .as_dict()
        .at("inbound_nodes")
        .as_list()[0]
        .as_list();
  };
  Value keras2 = keras_model_config(from_zero, "keras2"),
        keras3 = keras_model_config(from_zero, "keras3");
  CHECK(node_of_sum(keras2)[0].as_list()[1] == Value(1));
  CHECK(node_of_sum(keras3)[0].as_list()[1] == Value(0));
  CHECK(keras2.as_dict().at("class_name") == Value("Model"));
  auto outputs = [](const Value& written) {
    return written.as_dict().at("config").as_dict().at("output_layers");
  };
  CHECK(outputs(keras2) == Value(List{List{"sum", 0, 0}}));
  // If this was a list of one output, model.output in Keras would be a list.
  CHECK(outputs(keras3) == Value(List{"sum", 0, 0}));
}

TEST_CASE("Keras 3 counts the calls of a functional model from 1 in the outputs of a model") {
  for (const int64_t call : {0, 1}) {
    const std::string tensor = R"({"class_name": "__keras_tensor__", "config": {"keras_history": )";
    const std::string call_on_a = R"({"args": [)" + tensor + R"(["a", 0, 0]}}], "kwargs": {}})";
    const Value graph = read((R"({"class_name": "Functional", "config": {"name": "m", "layers": [
          {"class_name": "InputLayer", "name": "a", "config": {"batch_shape": [null, 4],
            "name": "a"}, "inbound_nodes": []},
          {"class_name": "Functional", "name": "inner", "config": {"name": "inner", "layers": [
            {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [null, 4],
              "name": "x"}, "inbound_nodes": []},
            {"class_name": "ReLU", "name": "r", "config": {"name": "r"}, "inbound_nodes": [
              {"args": [)" + tensor +
                              R"(["x", 0, 0]}}], "kwargs": {}}]}],
            "input_layers": [["x", 0, 0]], "output_layers": [["r", 0, 0]]},
           "inbound_nodes": [)" +
                              call_on_a + ", " + call_on_a + R"(]},
          {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 4},
           "inbound_nodes": [{"args": [)" +
                              tensor + R"(["inner", )" + std::to_string(1 - call) +
                              R"(, 0]}}], "kwargs": {}}]}],
          "input_layers": [["a", 0, 0]],
          "output_layers": {"u": ["d", 0, 0], "v": ["inner", )" +
                              std::to_string(call + 1) + R"(, 0]}}})")
                                 .c_str(),
                             "3.15.1");
    const Dict& config = graph.as_dict().at("config").as_dict();
    CHECK(config.at("output_layers") == Value(List{List{"d", 0, 0}, List{"inner", call, 0}}));
    const Value& node_of_dense =
        config.at("layers").as_list()[2].as_dict().at("inbound_nodes").as_list()[0];
    CHECK(node_of_dense.as_list()[0].as_list()[1] == Value(1 - call));

    const ModelPtr model = model_from_config(graph);
    const Value written = keras_model_config(model_config(*model), "keras3", model.get());
    CHECK(to_json(written.as_dict().at("config").as_dict().at("output_layers")) ==
          to_json(Dict{{"u", List{"d", 0, 0}}, {"v", List{"inner", call + 1, 0}}}));
    const Value reread = read(to_json(written).c_str(), "3.15.1");
    CHECK(to_json(reread.as_dict().at("config").as_dict().at("output_layers")) ==
          to_json(config.at("output_layers")));
  }
}

TEST_CASE("masks of nested inputs become a list in the order of the inputs") {
  auto tensor_of = [](const char* name) {
    return std::string(R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")") +
           name + R"(", 0, 0]}})";
  };
  auto input = [](const char* name) {
    return concat(R"({"class_name": "InputLayer", "name": ")", name,
                  R"(", "inbound_nodes": [], "config": {"batch_shape": [null, 4], "name": ")", name,
                  R"("}}, )");
  };
  const Value graph = read(
      concat(
          R"({"class_name": "Functional", "config": {"name": "g", "layers": [)", input("p"),
          input("q"), input("m"),
          R"({"module": "keras.layers", "class_name": "Add", "name": "s", "config": {"name": "s"},
               "inbound_nodes": [
               {"args": [{"b": )",
          tensor_of("q"), R"(, "a": )", tensor_of("p"), R"(}], "kwargs": {"mask": {"b": )",
          tensor_of("m"), R"(, "a": null}}}]}],
             "input_layers": [["p", 0, 0], ["q", 0, 0], ["m", 0, 0]],
             "output_layers": ["s", 0, 0]}})")
          .c_str(),
      "3.15.1");
  const List& node = graph.as_dict()
                         .at("config")
                         .as_dict()
                         .at("layers")
                         .as_list()[3]
                         .as_dict()
                         .at("inbound_nodes")
                         .as_list()[0]
                         .as_list();
  CHECK(node[0].as_list()[0] == Value("p"));
  CHECK(node[1].as_list()[0] == Value("q"));
  const List& masks = node[0].as_list()[3].as_dict().at("mask").as_list();
  REQUIRE(masks.size() == 2);
  CHECK(masks[0].is_null());
  CHECK(masks[1].as_dict().at("config").as_dict().at("keras_history").as_list()[0] == Value("m"));
}

std::string attention_graph(const std::string& node) {
  std::string inputs;
  for (std::string name : {"q", "v", "k", "m"})
    inputs += R"({"class_name": "InputLayer", "name": ")" + name +
              R"(", "config": {"batch_input_shape": [null, 3, )" + (name == "m" ? "3" : "4") +
              R"(], "name": ")" + name + R"("}, "inbound_nodes": []},)";
  return R"({"class_name": "Functional", "config": {"name": "g", "layers": [)" + inputs +
         R"({"class_name": "MultiHeadAttention", "name": "a", "config": {"name": "a",
           "num_heads": 1, "key_dim": 2},
          "inbound_nodes": [)" +
         node +
         R"(]}], "input_layers": [["q", 0, 0], ["v", 0, 0], ["k", 0, 0], ["m", 0, 0]],
           "output_layers": [["a", 0, 0]]}})";
}

TEST_CASE("tensors given by name are inputs at their places, or arguments of the call") {
  auto tensor_of = [](std::string name) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 3, 4],
      "dtype": "float32", "keras_history": [")" +
           name + R"(", 0, 0]}})";
  };
  Value keras3 =
      read(attention_graph(R"({"args": [)" + tensor_of("q") + R"(], "kwargs": {"key": )" +
                           tensor_of("k") + R"(, "value": )" + tensor_of("v") +
                           R"(, "attention_mask": )" + tensor_of("m") +
                           R"(, "use_causal_mask": true, "training": null}})")
               .c_str(),
           "3.15.1");
  Value tf_keras = read(attention_graph(R"([["q", 0, 0, {"key": ["k", 0, 0], "value": ["v", 0, 0],
      "attention_mask": ["m", 0, 0], "use_causal_mask": true}]])")
                            .c_str(),
                        "2.15.0");
  CHECK(keras3 == tf_keras);
  auto model = std::dynamic_pointer_cast<Functional>(model_from_config(keras3));
  auto check_call = [](const Functional& graph) {
    const crescent::Node& node = *graph.outputs().front().node();
    std::vector<std::string> names;
    for (const Symbol& s : node.inputs) names.push_back(s.layer()->name());
    CHECK(names == std::vector<std::string>{"q", "v", "k", "m"});
    CHECK(node.argument_inputs == 1);
    CHECK(node.arguments.at("use_causal_mask") == Value(true));
  };
  check_call(*model);

  Value written = keras_model_config(model_config(*model), "keras3");
  CHECK(to_json(written).find(R"("attention_mask": {"class_name": "__keras_tensor__")") !=
        std::string::npos);
  auto reread_graph = std::dynamic_pointer_cast<Functional>(
      model_from_config(read(to_json(written).c_str(), "3.15.1")));
  check_call(*reread_graph);
}

TEST_CASE("functions have options and arguments where Keras 3 has them") {
  struct OperationCase {
    const char *module, *class_name, *config, *arguments;
    std::vector<double> expected_values;  // permuted in the order 3, 1, 2, 0 and reshaped to (2, 2)
  };
  const std::string x = R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 2],
    "dtype": "float32", "keras_history": ["x", 0, 0]}})";
  const OperationCase rows[] = {
      {"nn",
       "LayerNorm",
       R"("axis": -1, "epsilon": null, "rms_scaling": false)",
       "null, null",
       {1, -1, 1, -1}},
      {"nn",
       "LayerNorm",
       R"("axis": -1, "epsilon": null, "rms_scaling": true)",
       "null, null",
       {3, 1, 2, 0}},
      {"numpy", "Isclose", R"("equal_nan": false)", "2.0, 0.5, 0.1", {1, 1, 1, 0}},
      {"numpy", "Slogdet", "", "", {-1}},
      {"numpy", "Repeat", R"("repeats": 2, "axis": null)", "", {3, 3, 1, 1, 2, 2, 0, 0}},
      {"numpy", "AllClose", R"("rtol": 1e-05, "atol": 1e-08)", x.c_str(), {1}},
      {"math", "CDist", "", x.c_str(), {0, 1.41421, 1.41421, 0}},
  };
  for (const OperationCase& operation_case : rows) {
    INFO(operation_case.class_name);
    const std::string config = R"({"name": "f")" +
                               (*operation_case.config ? std::string(", ") + operation_case.config
                                                       : "") +
                               "}",
                      arguments = x + (*operation_case.arguments
                                           ? std::string(", ") + operation_case.arguments
                                           : "");
    const Value model =
        read((R"({"class_name": "Functional", "config": {"name": "m", "layers": [
          {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
           "config": {"name": "x", "batch_shape": [null, 2], "dtype": "float32"}},
          {"module": "keras.src.ops.)" +
              std::string(operation_case.module) + R"(", "class_name": ")" +
              std::string(operation_case.class_name) + R"(", "name": "f", "config": )" + config +
              R"(, "inbound_nodes": [{"args": [)" + arguments + R"(], "kwargs": {}}]}],
          "input_layers": [["x", 0, 0]], "output_layers": [["f", 0, 0]]}})")
                 .c_str(),
             "3.15.1");
    const ModelPtr graph = model_from_config(model);
    std::vector<double> got;
    for (const Tensor& y : (*graph)(Tensors{Tensor::from(std::vector<float>{3, 1, 2, 0}, {2, 2})}))
      for (double value : y.to_vector()) got.push_back(value);
    REQUIRE(got.size() == operation_case.expected_values.size());
    for (size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == Approx(operation_case.expected_values[i]).margin(1e-4));
  }
}

TEST_CASE("compile arguments of every generation") {
  ConfigIn reader({"2.2.4", "tensorflow"});
  Dict old_options = reader.compile_options(parse_json(
      R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.5, "momentum": 0.0,
    "decay": 0.1, "nesterov": false}}, "loss": "mse", "metrics": ["acc"],
      "sample_weight_mode": null, "loss_weights": null})"));
  CHECK(old_options.keys() == std::vector<std::string>{"optimizer", "loss", "metrics"});
  const Dict& sgd = old_options.at("optimizer").as_dict().at("config").as_dict();
  CHECK(sgd.at("learning_rate").as_dict().at("class_name") == Value("InverseTimeDecay"));
  CHECK_FALSE(sgd.contains("lr"));
  CHECK_FALSE(sgd.contains("decay"));

  Dict tf_options = reader.compile_options(
      parse_json(R"({"loss": "mse", "metrics": [[{"class_name": "MeanMetricWrapper",
    "config": {"name": "accuracy", "dtype": "float32", "fn": "binary_accuracy"}}]]})"));
  CHECK(to_json(tf_options.at("metrics")) ==
        R"([{"class_name": "BinaryAccuracy", "config": {"name": "accuracy"}}])");

  // From Keras 2.9 on, the configuration of a loss class also contains the function that it wraps,
  // beside the class's options.
  Dict logits_options =
      ConfigIn({"2.14.0", "tensorflow"})
          .compile_options(parse_json(
              R"({"loss": {"class_name": "CategoricalCrossentropy", "config": {"reduction": "auto",
    "name": "categorical_crossentropy", "from_logits": true, "label_smoothing": 0.1, "axis": -1,
    "fn": "categorical_crossentropy"}}})"));
  const Dict& loss = logits_options.at("loss").as_dict().at("config").as_dict();
  CHECK(loss.at("from_logits") == Value(true));
  CHECK(loss.at("label_smoothing") == Value(0.1));
  CHECK(loss.at("reduction") == Value("sum_over_batch_size"));
  CHECK_FALSE(loss.contains("fn"));

  Dict nadam_options =
      ConfigIn({"2.3.1", "theano"})
          .compile_options(parse_json(
              R"({"loss": "mse", "optimizer_config": {"class_name": "Nadam", "config": {
    "learning_rate": 0.002, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07,
    "schedule_decay": 0.004}}})"));
  CHECK(nadam_options.at("optimizer").as_dict().at("config").as_dict().at("schedule_decay") ==
        Value(0.004));
}

TEST_CASE("what is written loads in Keras 2.3.1: explicit input, old names, nothing new") {
  auto model = Sequential::make(
      {layer("Conv2D", {{"filters", 2},
                        {"kernel_size", 3},
                        {"input_shape", List{8, 8, 1}},
                        {"kernel_regularizer", "l2"},
                        {"name", "c"}}),
       layer("LeakyReLU", {{"negative_slope", 0.1}}), layer("BatchNormalization", {})},
      "s");
  Value written = keras_model_config(model_config(*model), "keras3");
  const List& layers = written.as_dict().at("config").as_dict().at("layers").as_list();
  REQUIRE(layers.size() == 4);
  CHECK(layers[0].as_dict().at("class_name") == Value("InputLayer"));
  CHECK(layer_config(written, 0).keys() ==
        std::vector<std::string>{"batch_input_shape", "dtype", "sparse", "name"});
  CHECK(layer_config(written, 0).at("name") == Value("c_input"));
  const Dict& conv = layer_config(written, 1);
  CHECK_FALSE(conv.contains("batch_input_shape"));
  CHECK_FALSE(conv.contains("groups"));
  CHECK(conv.at("kernel_initializer").as_dict().at("class_name") == Value("VarianceScaling"));
  CHECK(conv.at("kernel_regularizer").as_dict().at("class_name") == Value("L1L2"));
  CHECK(layer_config(written, 2).at("alpha") == Value(0.1));
  CHECK(layer_config(written, 3).at("axis") == Value(-1));
}

}  // namespace
}  // namespace crescent::keras
