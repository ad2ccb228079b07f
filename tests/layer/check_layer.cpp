// Runs check_layer on every built-in layer; a row gives its options and inputs.
#include <catch2/catch.hpp>
#include <set>

#include "crescent/crescent.h"
#include "layer_rows.h"
#include "poison.h"

using namespace crescent;

namespace {

/// Rows whose layer does not exist yet.
const std::set<std::string> kMissing = {};

/// The integers converted to strings.
Tensor as_strings(const Tensor& numbers) {
  std::vector<std::string> texts;
  for (double number : numbers.to_vector()) texts.push_back(std::to_string(int64_t(number)));
  return string_tensor(texts, numbers.shape());
}

Tensors inputs_of(const LayerRow& row) {
  const SeedGenerator random(11);
  Tensors inputs;
  for (const Shape& shape : row.inputs) {
    const Tensor numbers = random.uniform(shape, row.low, row.high);
    inputs.push_back(row.dtype == DType::string ? as_strings(numbers)
                                                : ops::cast(numbers, row.dtype));
  }
  return inputs;
}

LayerPtr layer_of(const LayerRow& row) { return make<Layer>(row.name, row.options); }

/// Layers for which some checks of check_layer do not apply.
struct SpecialCase {
  const char* name;
  int64_t batch_size;  ///< batch size with which the layer must be called; 0: any
  std::vector<std::string> skipped_checks;
};
const SpecialCase kSpecialCases[] = {
    {"AlphaDropout", 2, {}},  // noise_shape contains the batch size
    // As in Keras, these layers change the number of steps, but pass on the mask of their input
    // unchanged.
    {"ZeroPadding1D", 0, {"masks"}},
    {"Conv1D", 0, {"masks"}},
    {"DepthwiseConv1D", 0, {"masks"}},
    {"LocallyConnected1D", 0, {"masks"}},
    // The masks of these layers do not mark time steps.
    {"Softmax", 0, {"masks"}},
    {"MultiHeadAttention", 0, {"masks"}},
    // Undefined cases are left out: the maximum of an empty batch, the gradient of a root at zero,
    // pairs of an empty batch, and a single image without a batch axis.
    {"MelSpectrogram", 0, {"batch of 0", "zeros"}},
    {"MixUp", 0, {"batch of 0"}},
    {"CutMix", 0, {"batch of 0"}},
    {"RandomShear", 0, {"batch of 0"}}};

/// The inputs of the row, for check_layer.
LayerCheckOptions checks_of(const LayerRow& row) {
  LayerCheckOptions checks;
  for (const Shape& shape : row.inputs) checks.shapes.push_back(shape.slice(1, shape.rank()));
  checks.dtypes = {row.dtype};
  checks.low = row.low, checks.high = row.high;
  for (const SpecialCase& special_case : kSpecialCases)
    if (special_case.name == std::string(row.name))
      checks.batch_size = special_case.batch_size, checks.without = special_case.skipped_checks;
  return checks;
}

void check_documented(const LayerRow& row) {
  const SchemaData& schema = registry().get(Layer::kKind, row.name)->schema;
  CHECK_FALSE(schema.description.empty());
  for (const Field& field : schema.fields) CHECK_FALSE(field.doc.empty());
}

}  // namespace

TEST_CASE("every layer keeps the rules of layers") {
  for (const LayerRow& row : layer_rows()) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    DYNAMIC_SECTION(row.name << " " << to_text(Value(row.options))) {
      const CheckReport report = check_layer(row.name, row.options, checks_of(row));
      if (!report.ok()) FAIL_CHECK(report.text());
      check_documented(row);
    }
  }
}

TEST_CASE("every row has its layer, except for those that wait for it") {
  for (const LayerRow& row : layer_rows()) {
    const bool exists = registry().find(Layer::kKind, row.name) != nullptr;
    if (exists == kMissing.contains(row.name))
      FAIL_CHECK(
          row.name << (exists ? " is there: take it out of the list" : " is not registered"));
  }
}

TEST_CASE("every registered layer has a row") {
  std::set<std::string> covered_names{"InputLayer", "OperationLayer", "Sequential", "Functional"};
  for (const LayerRow& row : layer_rows()) covered_names.insert(row.name);
  const std::set<std::string> wrapper_names{
      "Lambda",          "RNN",       "SimpleRNNCell",        "LSTMCell", "GRUCell",
      "StackedRNNCells", "Distiller", "SpectralNormalization"};
  for (const std::string& name : registry().names(Layer::kKind)) {
    INFO(name);
    CHECK((covered_names.contains(name) || wrapper_names.contains(name)));
  }
}

// ---- arrays without elements

namespace {

/// The outputs, and the gradients of their sum with respect to weights and inputs.
Tensors outputs_and_gradients(Layer& layer, const Tensors& inputs) {
  GradientTape tape;
  for (const Tensor& t : inputs)
    if (is_floating(t.dtype())) tape.watch(t);
  Tensors results = layer(inputs), sums;
  for (const Tensor& y : results) sums.push_back(ops::sum(y));
  const Tensor sum = ops::add_n(sums);
  tape.stop();
  const Variables weights = layer.trainable_weights();
  for (const Tensors& gradients : {tape.gradient(sum, std::span<const Variable>(weights)),
                                   tape.gradient(sum, std::span<const Tensor>(inputs))})
    for (const Tensor& g : gradients)
      if (g) results.push_back(g);
  return results;
}

/// Checks that results on empty arrays do not depend on what the memory held before, eagerly and
/// compiled.
void check_empty(const LayerRow& row) {
  try {
    const LayerPtr layer = layer_of(row);
    const Tensors inputs = inputs_of(row);
    auto run = [&](uint8_t fill_byte, bool is_compiled) {
      test::poison(fill_byte);
      auto f = [&](const Tensors& x) { return outputs_and_gradients(*layer, x); };
      return is_compiled ? Function(f)(inputs) : f(inputs);
    };
    const Tensors first = run(0x55, false);
    CHECK(test::same_values(first, run(0xaa, false)));
    CHECK(test::same_values(first, run(0x55, true)));
    CHECK(test::same_values(first, run(0xaa, true)));
    CallOptions training;
    training.training = true;
    (*layer)(inputs, training);
    Function([&](const Tensors& x) { return (*layer)(x, training); })(inputs);
  } catch (const Error& error) {
    CHECK_FALSE(std::string(error.what()).empty());
  }
}

}  // namespace

TEST_CASE("every layer takes arrays without elements or says what is missing") {
  for (const LayerRow& row : layer_rows()) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      for (int axis = 0; axis < row.inputs[i].rank(); ++axis) {
        INFO(row.name << " " << to_text(Value(row.options)) << ", input " << i << ", axis "
                      << axis);
        LayerRow one_input = row, all_inputs = row;
        one_input.inputs[i].set(axis, 0);
        for (Shape& shape : all_inputs.inputs)
          if (axis < shape.rank()) shape.set(axis, 0);
        check_empty(one_input);
        check_empty(all_inputs);
      }
    }
  }
}

TEST_CASE("layers without elements give zeros, their bias, or nothing") {
  auto result = [](const char* name, const Dict& options, const Shape& input,
                   bool training = false) {
    const LayerPtr layer = make<Layer>(name, options);
    CallOptions call;
    call.training = training;
    return (*layer)(Tensors{Tensor(input, DType::float32)}, call).front();
  };
  CHECK(result("LayerNormalization", {}, {3, 0}).shape() == Shape{3, 0});
  CHECK(result("BatchNormalization", {}, {3, 1, 0}).shape() == Shape{3, 1, 0});
  CHECK(result("BatchNormalization", {}, {3, 1, 0}, true).shape() == Shape{3, 1, 0});
  CHECK(result("PReLU", {}, {3, 0}).shape() == Shape{3, 0});
  const Dict conv{{"filters", 2}, {"kernel_size", 1}, {"bias_initializer", "ones"}};
  CHECK(result("Conv2D", conv, {1, 1, 2, 0}).to_vector() == std::vector<double>(4, 1));
  CHECK(result("Conv2DTranspose", conv, {1, 1, 2, 0}).to_vector() == std::vector<double>(4, 1));
  CHECK(result("Dense", {{"units", 2}, {"bias_initializer", "ones"}}, {1, 0}).to_vector() ==
        std::vector<double>(2, 1));
  CHECK(result("LSTM", {{"units", 2}}, {1, 3, 0}).to_vector() == std::vector<double>(2, 0));
}

TEST_CASE("a layer is called on as many inputs as it declares") {
  const Tensor x({2, 3}, DType::float32), h({2, 2}, DType::float32);
  using Catch::Matchers::Contains;
  for (const char* name : {"SimpleRNNCell", "GRUCell", "LSTMCell"}) {
    const LayerPtr cell = make<Layer>(name, {{"units", 2}});
    const size_t state_count = std::string(name) == "LSTMCell" ? 2 : 1;
    CHECK_THROWS_WITH((*cell)(x),
                      Contains("is a cell") && Contains("RNN(cell)") && Contains("Got 1 inputs"));
    CHECK_THROWS_WITH(cell->build_for({{2, 3}}), Contains("is a cell"));
    Tensors inputs(1 + state_count, h);
    inputs[0] = x;
    CHECK((*cell)(inputs).size() == 1 + state_count);
    CHECK_THROWS_WITH((*cell)(x), Contains("is a cell"));
    auto model = Sequential::make({}, "");
    model->add(make<Layer>("InputLayer", {{"batch_input_shape", List{Value(), 3}}}));
    CHECK_THROWS_WITH(model->add(make<Layer>(name, {{"units", 2}})), Contains("RNN(cell)"));
  }
  for (const LayerRow& row : layer_rows()) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    INFO(row.name);
    const LayerPtr built_layer = layer_of(row), fresh_layer = layer_of(row);
    const Tensors inputs = inputs_of(row);
    (*built_layer)(inputs);
    for (const LayerPtr& layer : {built_layer, fresh_layer}) {
      CHECK_THROWS_AS((*layer)(Tensors{}), Error);
      CHECK_THROWS_AS(layer->compute_output_shape({}), Error);
      if (layer->input_count().min > 1) CHECK_THROWS_AS((*layer)(Tensors{inputs[0]}), Error);
      if (layer->input_count().max < 9) CHECK_THROWS_AS((*layer)(Tensors(9, inputs[0])), Error);
    }
  }
}

TEST_CASE("options that cannot be are refused, and null is what Keras makes of it") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(make<Layer>("Dot", {{"axes", List{}}}), Contains("expected 1 or 2 integers"));
  CHECK_THROWS_WITH(make<Layer>("LayerNormalization", {{"axis", List{}}}),
                    Contains("at least one"));
  const Dict attention_options{{"num_heads", 1}, {"key_dim", 2}, {"output_shape", List{}}};
  CHECK_THROWS_WITH(make<Layer>("MultiHeadAttention", attention_options), Contains("output_shape"));
  for (const char* name : {"LSTM", "GRU", "SimpleRNN", "Dense"}) {
    const LayerPtr layer = make<Layer>(name, {{"units", 4},
                                              {"bias_initializer", Value()},
                                              {"kernel_initializer", Value()},
                                              {"kernel_regularizer", Value()},
                                              {"bias_constraint", Value()},
                                              {"activation", Value()}});
    CHECK_NOTHROW((*layer)(Tensors{Tensor({2, 3, 5}, DType::float32)}));
    const Tensor kernel = layer->get_weights().front();
    CHECK(ops::max(ops::abs(kernel)).item() > 0);
    CHECK(
        layer->get_config().find("kernel_initializer")->as_dict().find("class_name")->as_string() ==
        "GlorotUniform");
  }
}
