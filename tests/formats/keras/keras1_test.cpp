// Files of Keras 1: other names and classes, one array for each gate, and kernels whose axes have
// another order.
#include "crescent/system/file.h"
#include "image.h"
#include "keras/configs/config_in.h"
#include "keras/keras1/configurations.h"
#include "keras_file.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

using keras::Entries;

Dict keras1_layer(const char* class_name, const Dict& options) {
  return {{"class_name", class_name}, {"config", options}};
}

/// The configuration of a Keras 1 layer converted to the names of Keras 2.
Dict converted_config(const char* class_name, const char* options) {
  return keras::from_keras1(keras1_layer(class_name, parse_json(options).as_dict())).as_dict();
}

struct ConvertedLayer {
  const char *class_name, *options, *expected_class, *expected;
};
// clang-format off
const ConvertedLayer kConvertedLayers[] = {
  {"Dense", R"({"output_dim": 3, "init": "uniform", "bias": true, "input_dim": 4,
    "b_constraint": null,
    "W_regularizer": {"name": "L1L2Regularizer", "l1": 0.1, "l2": 0.2},
    "W_constraint": {"name": "MaxNorm", "m": 2, "axis": 0}})",
   "Dense", R"({"units": 3, "kernel_initializer": "uniform", "use_bias": true,
    "bias_constraint": null,
    "kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.2}},
    "kernel_constraint": {"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 0}}})"},
  {"TimeDistributedDense", R"({"output_dim": 3, "input_length": 5})", "Dense", R"({"units": 3})"},
  {"Convolution2D", R"({"nb_filter": 2, "nb_row": 3, "nb_col": 5, "subsample": [1, 2],
    "border_mode": "same", "dim_ordering": "tf"})",
   "Conv2D", R"({"filters": 2, "strides": [1, 2], "padding": "same", "data_format": "channels_last",
    "kernel_size": [3, 5]})"},
  {"AtrousConvolution1D", R"({"nb_filter": 2, "filter_length": 3, "subsample_length": 1,
    "atrous_rate": 2})",
   "Conv1D", R"({"filters": 2, "kernel_size": 3, "strides": 1, "dilation_rate": 2})"},
  {"Convolution3D", R"({"kernel_dim1": 1, "kernel_dim2": 2, "kernel_dim3": 3,
    "dim_ordering": "th"})",
   "Conv3D", R"({"data_format": "channels_first", "kernel_size": [1, 2, 3]})"},
  {"SeparableConvolution2D", R"({"init": "one", "dim_ordering": "default"})",
   "SeparableConv2D", R"({"data_format": null, "depthwise_initializer": "one",
    "pointwise_initializer": "one"})"},
  {"Deconvolution2D", R"({"nb_filter": 2, "output_shape": [null, 4, 4, 2]})",
   "Conv2DTranspose", R"({"filters": 2})"},
  {"LSTM", R"({"output_dim": 3, "inner_init": "orthogonal", "forget_bias_init": "one",
    "inner_activation": "hard_sigmoid", "consume_less": "cpu", "dropout_W": 0.1, "dropout_U": 0.2,
    "U_regularizer": null, "input_dim": 4})",
   "LSTM", R"({"units": 3, "recurrent_initializer": "orthogonal",
    "recurrent_activation": "hard_sigmoid", "dropout": 0.1, "recurrent_dropout": 0.2,
    "recurrent_regularizer": null,
    "unit_forget_bias": true})"},
  {"Embedding", R"({"input_dim": 9, "output_dim": 3, "init": "uniform", "dropout": 0.0})",
   "Embedding", R"({"input_dim": 9, "output_dim": 3, "embeddings_initializer": "uniform"})"},
  {"Dropout", R"({"p": 0.5})", "Dropout", R"({"rate": 0.5})"},
  {"GaussianNoise", R"({"sigma": 0.5})", "GaussianNoise", R"({"stddev": 0.5})"},
  {"MaxPooling1D", R"({"pool_length": 2, "stride": 1, "border_mode": "valid"})",
   "MaxPooling1D", R"({"pool_size": 2, "strides": 1, "padding": "valid"})"},
  {"UpSampling1D", R"({"length": 2})", "UpSampling1D", R"({"size": 2})"},
  {"ZeroPadding1D", R"({"padding": {"left_pad": 1}})", "ZeroPadding1D", R"({"padding": [1, 0]})"},
  {"ZeroPadding2D", R"({"padding": [1, 2, 3, 4]})", "ZeroPadding2D",
   R"({"padding": [[1, 2], [3, 4]]})"},
  {"BatchNormalization", R"({"mode": 0, "axis": 1})", "BatchNormalization", R"({"axis": 1})"},
  {"Merge", R"({"name": "m", "mode": "concat", "mode_type": "raw", "concat_axis": 1,
    "dot_axes": -1})",
   "Concatenate", R"({"name": "m", "axis": 1})"},
  {"Merge", R"({"name": "m", "mode": "cos", "mode_type": "raw", "concat_axis": 1,
    "dot_axes": [1, 1]})",
   "Dot", R"({"name": "m", "axes": [1, 1], "normalize": true})"},
  {"TimeDistributed", R"({"layer": {"class_name": "Dropout", "config": {"p": 0.5}}})",
   "TimeDistributed", R"({"layer": {"class_name": "Dropout", "config": {"rate": 0.5}}})"},
};
// clang-format on

TEST_CASE("Keras 1's words are those of Keras 2") {
  for (const ConvertedLayer& converted_layer : kConvertedLayers) {
    CAPTURE(converted_layer.class_name, converted_layer.options);
    const Dict config_of_row =
        converted_config(converted_layer.class_name, converted_layer.options);
    CHECK(config_of_row.at("class_name") == Value(converted_layer.expected_class));
    CHECK(to_json(config_of_row.at("config")) == to_json(parse_json(converted_layer.expected)));
  }
}

TEST_CASE("what only Keras 1 had is reported") {
  const auto refusal_of = [](const char* class_name, const char* options) {
    return failure([&] { converted_config(class_name, options); });
  };
  CHECK(contains(refusal_of("MaxoutDense", R"({"name": "here"})"), "layer 'here'"));
  CHECK(contains(refusal_of("Highway", "{}"), "Keras 1 had it"));
  CHECK(contains(refusal_of("BatchNormalization", R"({"mode": 2})"), "expected mode 0"));
  CHECK(contains(refusal_of("Merge", R"({"name": "m", "mode": "x", "mode_type": "lambda"})"),
                 "got a function"));
}

/// Writes a model's file as Keras 1 does; returns its path.
std::string written_path(Scratch& scratch, const Value& model, Entries weights,
                         const List& layers) {
  Entries entries{{"", {{"keras_version", "1.2.2"}, {"model_config", to_json(model)}}},
                  {"model_weights", {{"layer_names", layers}}}};
  for (keras::Entry& entry : weights) entries.push_back(std::move(entry));
  const std::string path = scratch.path("keras1.h5");
  const FileImage image(tree_of(entries));
  replace_file(path, image.pieces());
  return path;
}

Dict with_input_shape(const char* class_name, Dict options, const List& shape) {
  options.set("name", "layer");
  options.set("batch_input_shape", shape);
  return keras1_layer(class_name, options);
}

/// Loads a Sequential of one layer from a file with arrays of these names, each filled with one
/// value.
ModelPtr loaded_model(const Dict& layer,
                      const std::vector<std::pair<std::string, Tensor>>& arrays) {
  Scratch scratch;
  std::vector<std::string> names;
  Entries weights{{"model_weights/layer"}};
  for (const auto& [name, value] : arrays) {
    names.push_back(name);
    weights.push_back({"model_weights/layer/" + name, {}, value});
  }
  weights.front().attributes.set("weight_names", names);
  const Value model = Dict{{"class_name", "Sequential"}, {"config", List{layer}}};
  return crescent::load_model(written_path(scratch, model, std::move(weights), {"layer"}));
}

TEST_CASE("gates of Keras 1 are side by side, in Keras 2's order") {
  constexpr int kUnits = 2;
  const auto arrays = [](const std::string& gates) {
    std::vector<std::pair<std::string, Tensor>> result;
    for (size_t gate = 0; gate < gates.size(); ++gate)
      for (const auto& [array, shape] :
           {std::pair<char, Shape>{'W', {3, kUnits}}, {'U', {kUnits, kUnits}}, {'b', {kUnits}}})
        result.emplace_back(concat("layer_", array, "_", gates[gate]),
                            Tensor::full(shape, static_cast<double>(gates[gate])));
    return result;
  };
  const auto gate_order = [](Model& model) {
    std::string gates;
    for (const Tensor& weight : model.get_weights()) {
      const Tensor row = weight.rank() == 2 ? weight.view_rows(0, 1).view({weight.dim(1)}) : weight;
      for (size_t i = 0; i < row.to_vector().size(); i += kUnits)
        gates += static_cast<char>(row.to_vector()[i]);
      gates += ' ';
    }
    return gates;
  };
  const List shape{Value(), 4, 3};
  CHECK(gate_order(*loaded_model(with_input_shape("LSTM", {{"output_dim", kUnits}}, shape),
                                 arrays("icfo"))) == "ifco ifco ifco ");
  CHECK(gate_order(*loaded_model(with_input_shape("GRU", {{"output_dim", kUnits}}, shape),
                                 arrays("zrh"))) == "zrh zrh zrh ");
}

TEST_CASE("kernels of Keras 1 have their axes in our order") {
  const auto kernel = [](const char* class_name, const Dict& options, const List& shape,
                         const Tensor& saved_kernel, const Shape& expected) {
    const Tensor bias({expected[-1]}, DType::float32);
    const bool is_transposed = std::string(class_name) == "Deconvolution2D";
    const auto model =
        loaded_model(with_input_shape(class_name, options, shape),
                     {{"layer_W", saved_kernel},
                      {"layer_b", is_transposed ? Tensor({2}, DType::float32) : bias}});
    const Tensor first_weight = model->get_weights().front();
    CHECK(first_weight.shape() == expected);
    return first_weight;
  };
  const auto permuted = [](const Tensor& saved_kernel, const std::vector<int>& axes) {
    return ops::transpose(saved_kernel, axes);
  };
  const Dict options_1d{{"nb_filter", 2}, {"filter_length", 5}},
      first{{"nb_filter", 2}, {"nb_row", 4}, {"nb_col", 5}, {"dim_ordering", "th"}};
  Dict channels_last_options = first;
  channels_last_options.set("dim_ordering", "tf");
  const List line_shape{Value(), 9, 3}, image_shape{Value(), 3, 9, 9},
      channels_last_shape{Value(), 9, 9, 3};
  const Tensor keras2_kernel = ramp({5, 1, 3, 2}), keras1_kernel = ramp({2, 3, 5, 1});
  check_same(kernel("Convolution1D", options_1d, line_shape, keras2_kernel, {5, 3, 2}),
             keras2_kernel.view({5, 3, 2}));
  check_same(kernel("Convolution1D", options_1d, line_shape, keras1_kernel, {5, 3, 2}),
             permuted(keras1_kernel, {2, 3, 1, 0}).view({5, 3, 2}));
  const Tensor filters_first = ramp({2, 3, 4, 5}), filters_last = ramp({4, 5, 3, 2});
  check_same(kernel("Convolution2D", first, image_shape, filters_first, {4, 5, 3, 2}),
             permuted(filters_first, {2, 3, 1, 0}));
  check_same(kernel("Convolution2D", channels_last_options, channels_last_shape, filters_last,
                    {4, 5, 3, 2}),
             filters_last);
  check_same(kernel("Deconvolution2D", channels_last_options, channels_last_shape, filters_last,
                    {4, 5, 2, 3}),
             permuted(filters_last, {0, 1, 3, 2}));
}

TEST_CASE("a Sequential of Keras 1 that begins with a Merge is a graph") {
  const auto branch = [](const List& layers) {
    return Dict{{"class_name", "Sequential"}, {"config", layers}};
  };
  const auto dense = [](const char* name, bool is_first) {
    Dict options{{"name", name}, {"output_dim", 2}, {"init", "one"}};
    if (is_first) options.set("batch_input_shape", List{Value(), 3});
    return keras1_layer("Dense", options);
  };
  const auto model_of = [&](const List& branches) {
    const Dict merge_options{
        {"name", "m"}, {"mode", "sum"}, {"mode_type", "raw"}, {"layers", branches}};
    const Dict model{{"class_name", "Sequential"},
                     {"keras_version", "1.2.2"},
                     {"config", List{keras1_layer("Merge", merge_options), dense("end", false)}}};
    return model_from_json(to_json(model));
  };
  const auto separate_model = model_of({branch({dense("a", true)}), branch({dense("b", true)})});
  CHECK(separate_model->inputs().size() == 2);
  const Tensor x = Tensor::full({1, 3}, 1);
  CHECK(separate_model->predict({x, x}).front().to_vector() == std::vector<double>{12, 12});
  std::vector<std::string> names;
  for (const LayerPtr& layer : separate_model->layers())
    if (!layer->weights().empty()) names.push_back(layer->name());
  CHECK(names == std::vector<std::string>{"a", "b", "end"});
  const auto shared_model = model_of({branch({dense("a", true)}), branch({dense("a", true)})});
  CHECK(shared_model->weights().size() == 4);
  CHECK(contains(failure([&] { model_of({keras1_layer("Model", {})}); }), "expected branches"));
}

TEST_CASE("a model of Keras 1 without a version is known by its words") {
  const auto model = model_from_json(R"({"class_name": "Sequential", "config": [
    {"class_name": "Convolution2D", "config": {"name": "c", "nb_filter": 2, "nb_row": 3,
      "nb_col": 3, "border_mode": "same", "dim_ordering": "tf",
      "batch_input_shape": [null, 4, 4, 1]}},
    {"class_name": "Flatten", "config": {"name": "f"}},
    {"class_name": "Dense", "config": {"name": "d", "output_dim": 2,
      "activation": "hard_sigmoid"}}]})");
  CHECK(model->outputs().front().shape() == Shape{-1, 2});
  CHECK(contains(to_json(model_config(*model)), "hard_sigmoid_keras2"));
}

}  // namespace
}  // namespace crescent::hdf5
