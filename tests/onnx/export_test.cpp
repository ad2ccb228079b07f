// Exported ONNX files are read by a reader of the tests and run according to the definitions of the
// operators; they must predict the same as the model, for batches of any size.
#include "predictions.h"

namespace crescent {
namespace {

using namespace onnx_test;

LayerPtr layer(const std::string& name, const Dict& options = {}) {
  return make<Layer>(name, options);
}

/// Sets random weights, because the zero biases and unit variances of a new model would hide
/// mistakes.
void randomize_weights(Model& model) {
  Tensors weights = model.get_weights();
  for (Tensor& w : weights)
    if (is_floating(w.dtype())) w = ops::abs(w * 0.9 + values(w.shape(), false) * 0.05) + 0.01;
  model.set_weights(weights);
}

/// A layer that uses an op that does not exist in ONNX.
class AngleLayer final : public UnaryLayer {
 public:
  Tensor call(const Tensor& x, const Call&) override { return ops::arctan2(x, x + 1.0); }
};

/// Prepends a learned row (a class token) to the rows of every sample.
class TokenLayer final : public UnaryLayer {
 public:
  void build(const Shape& input) override { token_ = add_weight("token", {1, 1, input[-1]}); }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor parts[] = {ops::broadcast_to(token_, {x.dim(0), 1, x.dim(-1)}), x};
    return ops::concatenate(parts, 1);
  }

 private:
  Variable token_;
};

std::string failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

size_t count(const File& file, const std::string& type) {
  size_t count = 0;
  for (const onnx_test::Node& node : file.graph.nodes) count += node.type == type;
  return count;
}

struct LayerStack {
  const char* description;
  Shape input;
  std::vector<std::pair<const char*, Dict>> layers;
  bool takes_integers = false;
};

const std::vector<LayerStack> kLayerStacks{
    {"dense layers",
     {6},
     {{"Dense", {{"units", 5}, {"activation", "relu"}}},
      {"BatchNormalization", {}},
      {"Dropout", {{"rate", 0.5}}},
      {"Dense", {{"units", 4}, {"activation", "softmax"}}}}},
    {"images",
     {9, 8, 3},
     {{"Conv2D", {{"filters", 4}, {"kernel_size", 3}, {"padding", "same"}, {"activation", "relu"}}},
      {"BatchNormalization", {}},
      {"MaxPooling2D", {{"pool_size", 2}, {"padding", "same"}}},
      {"DepthwiseConv2D", {{"kernel_size", 3}, {"depth_multiplier", 2}}},
      {"AveragePooling2D", {{"pool_size", 2}, {"padding", "same"}}},
      {"Conv2DTranspose",
       {{"filters", 3}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}}},
      {"UpSampling2D", {}},
      {"Flatten", {}},
      {"Dense", {{"units", 3}}}}},
    {"dilation and groups",
     {9, 9, 4},
     {{"Conv2D", {{"filters", 6}, {"kernel_size", 3}, {"dilation_rate", 2}, {"groups", 2}}},
      {"LeakyReLU", {}},
      {"GlobalMaxPooling2D", {}}}},
    {"volumes",
     {4, 4, 4, 2},
     {{"Conv3D", {{"filters", 2}, {"kernel_size", 2}}}, {"GlobalAveragePooling3D", {}}}},
    {"sequences",
     {8, 3},
     {{"Conv1D",
       {{"filters", 4}, {"kernel_size", 3}, {"padding", "causal"}, {"activation", "elu"}}},
      {"ZeroPadding1D", {}},
      {"SeparableConv1D", {{"filters", 5}, {"kernel_size", 3}}},
      {"MaxPooling1D", {}},
      {"Permute", {{"dims", List{2, 1}}}},
      {"Reshape", {{"target_shape", List{-1}}}},
      {"RepeatVector", {{"n", 3}}},
      {"LayerNormalization", {}}}},
    {"LSTM and GRU",
     {5, 3},
     {{"LSTM", {{"units", 4}, {"return_sequences", true}}},
      {"GRU", {{"units", 3}, {"return_sequences", true}, {"go_backwards", true}}},
      {"Bidirectional", {{"layer", Dict{{"class_name", "LSTM"}, {"config", Dict{{"units", 2}}}}}}},
      {"Dense", {{"units", 2}}}}},
    {"other recurrent layers",
     {5, 3},
     {{"SimpleRNN", {{"units", 4}, {"return_sequences", true}}},
      {"GRU", {{"units", 3}, {"reset_after", false}, {"go_backwards", true}}}}},
    {"masked steps",
     {7},
     {{"Embedding", {{"input_dim", 11}, {"output_dim", 4}, {"mask_zero", true}}},
      {"LSTM", {{"units", 3}, {"return_sequences", true}}},
      {"GRU", {{"units", 3}}}},
     true},
    {"one-hot ids",
     {4},
     {{"CategoryEncoding", {{"num_tokens", 11}, {"output_mode", "one_hot"}}}},
     true},
};

}  // namespace

TEST_CASE("stacks of layers predict the same from an ONNX file, for batches of any size") {
  for (const LayerStack& stack : kLayerStacks) {
    CAPTURE(stack.description);
    auto model = Sequential::make();
    for (const auto& [name, options] : stack.layers) {
      Dict layer_options = options;
      if (model->layers().empty())
        layer_options.set("input_shape", List(stack.input.begin(), stack.input.end()));
      model->add(layer(name, layer_options));
    }
    if (!stack.takes_integers) randomize_weights(*model);
    check_predictions(*model, stack.takes_integers);
  }
}

TEST_CASE("graphs with shared and nested layers, operations and several ends are exported") {
  const Symbol a = Input({6, 8}, "left"), b = Input({6, 8}, "right");
  auto shared_layer = layer("Dense", {{"units", 8}, {"activation", "gelu"}});
  auto inner_model =
      Sequential::make({layer("Dense", {{"units", 8}, {"input_shape", List{6, 8}}})});
  const Symbol sum_of_both = (*layer("Add"))({(*shared_layer)(a), (*shared_layer)(b)})[0];
  const Symbol attention_output =
      (*layer("MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 4}}))(
          {sum_of_both, (*inner_model)(b)})[0];
  const Symbol joined_output = (*layer("Concatenate"))({attention_output, sum_of_both})[0];
  const Symbol pooled_output =
      (*layer("GlobalAveragePooling1D", {{"name", "pooled"}}))(joined_output);
  const Symbol scaled_output =
      (*layer("Rescaling", {{"scale", 2}, {"offset", 1}, {"name", "all"}}))(joined_output);
  auto model = Functional::make({a, b}, {pooled_output, scaled_output}, "two");
  randomize_weights(*model);
  check_predictions(*model);
  const File file = exported(*model);
  CHECK(file.graph.inputs[0].name == "left");
  CHECK(file.graph.inputs[1].name == "right");
  CHECK(file.graph.outputs[0].name == "pooled");
  CHECK(file.graph.outputs[1].name == "all");
  CHECK(file.graph.inputs[0].dims == std::vector<std::string>{"batch", "6", "8"});
  CHECK(file.graph.outputs[0].dims == std::vector<std::string>{"batch", "16"});
}

TEST_CASE("a model with a metric of its own is exported without it") {
  const Symbol a = Input({3}, "a"),
               hidden = (*layer("Dense", {{"units", 4}, {"activation", "relu"}}))(a);
  auto model = Functional::make({a}, {(*layer("Dense", {{"units", 2}}))(hidden)}, "measured");
  model->add_metric((*layer("Activation", {{"activation", "sigmoid"}}))(hidden), "seen");
  randomize_weights(*model);
  check_predictions(*model);
  CHECK(count(exported(*model), "Sigmoid") == 0);
}

TEST_CASE("between convolutions nothing is transposed") {
  const Symbol in = Input({8, 8, 4});
  auto conv = [](const Symbol& x) {
    const Symbol y =
        (*layer("Conv2D", {{"filters", 4}, {"kernel_size", 3}, {"padding", "same"}}))(x);
    return (*layer("ReLU"))((*layer("BatchNormalization"))(y));
  };
  const Symbol first = conv(in), second = conv(first);
  const Symbol sum = (*layer("Add"))({first, second})[0];
  const Symbol out = (*layer("MaxPooling2D"))((*layer("Concatenate"))({sum, first})[0]);
  auto model = Functional::make({in}, {out});
  randomize_weights(*model);
  check_predictions(*model);
  CHECK(count(exported(*model), "Transpose") == 2);  // one for the input and one for the output
}

TEST_CASE("a weight that is repeated for every sample follows the batch") {
  const Symbol in = Input({3, 4});
  auto token = std::make_shared<TokenLayer>();
  token->set_name("token");
  auto model = Functional::make({in}, {(*token)(in)});
  randomize_weights(*model);
  check_predictions(*model);
}

/// Models for sequences or images of any size.
const std::vector<LayerStack> kStacksOfOpenShape{
    {"LSTM", {-1, 3}, {{"LSTM", {{"units", 4}}}, {"Dense", {{"units", 2}}}}},
    {"GRU and SimpleRNN",
     {-1, 3},
     {{"GRU", {{"units", 4}, {"return_sequences", true}}},
      {"SimpleRNN", {{"units", 4}, {"return_sequences", true}}},
      {"TimeDistributed",
       {{"layer", Dict{{"class_name", "Dense"}, {"config", Dict{{"units", 2}}}}}}}}},
    {"both directions",
     {-1, 3},
     {{"Bidirectional",
       {{"layer", Dict{{"class_name", "LSTM"}, {"config", Dict{{"units", 2}}}}}}}}},
    {"words",
     {-1},
     {{"Embedding", {{"input_dim", 11}, {"output_dim", 4}}},
      {"Conv1D", {{"filters", 3}, {"kernel_size", 3}, {"activation", "relu"}}},
      {"GlobalMaxPooling1D", {}}},
     true},
    {"masked words",
     {-1},
     {{"Embedding", {{"input_dim", 11}, {"output_dim", 4}, {"mask_zero", true}}},
      {"LSTM", {{"units", 3}}}},
     true},
    {"images",
     {-1, -1, 3},
     {{"Conv2D", {{"filters", 4}, {"kernel_size", 3}, {"padding", "same"}}},
      {"BatchNormalization", {}},
      {"UpSampling2D", {}},
      {"Conv2D", {{"filters", 2}, {"kernel_size", 2}}},
      {"GlobalAveragePooling2D", {}}}},
};

TEST_CASE("sequences and images of any size predict the same from an ONNX file") {
  for (const LayerStack& stack : kStacksOfOpenShape) {
    CAPTURE(stack.description);
    auto model = Sequential::make();
    for (const auto& [name, options] : stack.layers) {
      Dict layer_options = options;
      if (model->layers().empty())
        layer_options.set("input_shape", Codec<Shape>::encode(stack.input));
      model->add(layer(name, layer_options));
    }
    if (!stack.takes_integers) randomize_weights(*model);
    check_predictions(*model, stack.takes_integers);
  }
  const Symbol words = Input({-1, 8}, "words");
  const Symbol attention_output =
      (*layer("MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 4}}))({words, words})[0];
  const Symbol sum = (*layer("Add"))({attention_output, words})[0];
  auto model = Functional::make({words}, {(*layer("LayerNormalization", {{"name", "out"}}))(sum)});
  randomize_weights(*model);
  check_predictions(*model);
  CHECK(exported(*model).graph.outputs[0].dims == std::vector<std::string>{"batch", "size1", "8"});
}

TEST_CASE("a batch that the model fixes stays in the file") {
  auto model = Sequential::make(
      {layer("Dense", {{"units", 2}, {"batch_input_shape", List{4, 3}}, {"name", "only"}})});
  const File file = exported(*model);
  CHECK(file.graph.inputs[0].dims == std::vector<std::string>{"4", "3"});
  CHECK(file.graph.outputs[0].dims == std::vector<std::string>{"4", "2"});
}

TEST_CASE("what a graph of ONNX cannot say is refused before anything is written") {
  const Scratch scratch;
  auto check_refused = [&](Model& model) {
    const std::string message = failure([&] { save_model(model, scratch.path()); });
    CHECK_FALSE(std::filesystem::exists(scratch.path()));
    return message;
  };
  auto stateful_model = Sequential::make(
      {layer("LSTM", {{"units", 2}, {"stateful", true}, {"batch_input_shape", List{2, 3, 2}}})});
  CHECK_THAT(check_refused(*stateful_model), Catch::Contains("changes from batch to batch"));
  auto half_precision_model = Sequential::make(
      {layer("MaxPooling1D", {{"name", "halves"}, {"input_shape", List{Value(), 2}}})});
  CHECK_THAT(check_refused(*half_precision_model),
             Catch::Contains("halves") && Catch::Contains("an open axis"));
  auto angle_layer = std::make_shared<AngleLayer>();
  angle_layer->set_name("turned");
  auto model_with_angle =
      Sequential::make({layer("Dense", {{"units", 2}, {"input_shape", List{3}}}), angle_layer});
  CHECK_THAT(check_refused(*model_with_angle),
             Catch::Contains("turned") && Catch::Contains("arctan2"));
  auto unbuilt_model = Sequential::make({layer("Dense", {{"units", 2}})});
  CHECK_THAT(check_refused(*unbuilt_model), Catch::Contains("must be built"));
}

TEST_CASE("ONNX files are not read, and are not replaced where that was not wished") {
  const Scratch scratch;
  auto model = Sequential::make({layer("Dense", {{"units", 2}, {"input_shape", List{3}}})});
  save_model(*model, scratch.path());
  CHECK_THAT(failure([&] { load_model(scratch.path()); }), Catch::Contains("written, not read"));
  CHECK_THAT(failure([&] { save_weights(*model, scratch.path()); }),
             Catch::Contains("hold weights"));
  CHECK_THAT(failure([&] {
               save_model(*model, scratch.path(), {{"overwrite", false}});
             }),
             Catch::Contains("m.onnx"));
  CHECK_THAT(failure([&] {
               save_model(*model, scratch.path(), {{"target", "keras2"}});
             }),
             Catch::Contains("target"));
}

}  // namespace crescent
