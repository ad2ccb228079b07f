// check_layer: what must hold of every layer, said once; a row says how to make one and what to
// feed it.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "crescent/crescent.h"
#include "distance.h"
#include "layer_rows.h"
#include "poison.h"

using namespace crescent;

namespace {

/// Rows that wait for their layer, which is not there yet.
const std::set<std::string> kMissing = {};

/// Whole numbers as texts.
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

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

bool near(const Tensor& a, const Tensor& b, double tolerance) {
  const auto x = a.to_vector(), y = b.to_vector();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    const double away = absolute_difference(x[i], y[i]);
    if (!std::isfinite(away) || away > tolerance * std::max(1.0, std::abs(x[i]))) return false;
  }
  return true;
}

/// The same for layers inside.
Dict with_dtype(Dict options, const char* dtype) {
  options.set("dtype", dtype);
  for (const char* option : {"layer", "cell", "layers"}) {
    Value* inside = options.find(option);
    if (!inside) continue;
    List layers = inside->is_list() ? inside->as_list() : List{*inside};
    for (Value& layer : layers) {
      Value& config = layer.as_dict()["config"];
      config = with_dtype(config.as_dict(), dtype);
    }
    *inside = inside->is_list() ? Value(layers) : layers.front();
  }
  return options;
}

LayerPtr layer_of(const LayerRow& row, const char* dtype = "float32") {
  return make<Layer>(row.name, with_dtype(row.options, dtype));
}

/// Calls of a layer in one mode; each draws the random numbers that the first one drew.
class Calls {
 public:
  Calls(Layer& layer, bool training) : layer_(layer) {
    options_.training = training;
    for (Layer* inner : layer.flatten_layers())
      for (const SeedGenerator& seeds : inner->seed_generators()) {
        states_.push_back(seeds.state());
        first_.push_back(seeds.state().value().clone());
      }
  }
  Tensors operator()(const Tensors& inputs) const {
    for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(first_[i]);
    return layer_(inputs, options_);
  }

 private:
  Layer& layer_;
  CallOptions options_;
  Variables states_;
  Tensors first_;
};

/// Sum of outputs with uneven factors, so that no gradient vanishes by symmetry.
Tensor objective(const Calls& layer, const Tensors& inputs) {
  Tensors terms;
  for (const Tensor& y : layer(inputs)) {
    const Tensor factors = ops::cos(ops::arange(y.size(), y.dtype()));
    terms.push_back(ops::sum(ops::reshape(y, {y.size()}) * factors));
  }
  return ops::add_n(terms);
}

void check_shapes(const LayerRow& row, Layer& layer, const Tensors& inputs,
                  const Tensors& outputs) {
  std::vector<Shape> unknown;
  for (Shape shape : shapes_of(inputs)) {
    shape.set(0, -1);
    unknown.push_back(shape);
  }
  const std::vector<Shape> symbolic = layer.compute_output_shape(unknown);
  REQUIRE(symbolic.size() == outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(row.name << " symbolic " << to_text(symbolic[i]) << " real "
                  << to_text(outputs[i].shape()));
    CHECK(symbolic[i].compatible(outputs[i].shape()));
  }
}

void check_config(Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  const Dict config = layer.get_config();
  auto again = make<Layer>(layer.class_name(), parse_json(to_json(config)).as_dict());
  CHECK(again->get_config() == config);
  again->build_for(shapes_of(inputs));
  again->set_weights(layer.get_weights());
  const Tensors repeated = (*again)(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) CHECK(near(repeated[i], outputs[i], 1e-6));
}

void check_compiled(const Calls& layer, const Tensors& inputs) {
  const Tensors outputs = layer(inputs);
  const Function function([&](const Tensors& x) { return layer(x); });
  const Tensors compiled = function(inputs);
  REQUIRE(compiled.size() == outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) CHECK(near(compiled[i], outputs[i], 1e-5));
}

/// In float64, against differences along one direction for each weight and floating input.
void check_gradients(const LayerRow& row, bool training) {
  const LayerPtr made = layer_of(row, "float64");
  Tensors inputs = inputs_of(row);
  for (Tensor& t : inputs)
    if (is_floating(t.dtype())) t = ops::cast(t, DType::float64);
  (*made)(inputs);
  const Calls layer(*made, training);
  const Variables weights = made->trainable_weights();
  GradientTape tape;
  for (const Tensor& t : inputs)
    if (is_floating(t.dtype())) tape.watch(t);
  const Tensor value = objective(layer, inputs);
  tape.stop();
  constexpr double kStep = 1e-5;
  const SeedGenerator random(23);
  auto slope = [&](const std::function<double(double)>& at) {
    return (at(kStep) - at(-kStep)) / (2 * kStep);
  };
  const Tensors by_weight = tape.gradient(value, std::span<const Variable>(weights));
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor start = weights[i].value().clone(),
                 direction = random.normal(start.shape(), 0, 1, start.dtype());
    const double numeric = slope([&](double step) {
      weights[i].assign(start + direction * step);
      return objective(layer, inputs).item();
    });
    weights[i].assign(start);
    INFO(row.name << " " << weights[i].path() << (training ? " in training" : ""));
    REQUIRE(by_weight[i]);
    CHECK(ops::sum(by_weight[i] * direction).item() == Approx(numeric).epsilon(1e-4).margin(1e-6));
  }
  if (!is_floating(row.dtype)) return;
  const Tensors by_input = tape.gradient(value, std::span<const Tensor>(inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor direction = random.normal(inputs[i].shape(), 0, 1, DType::float64);
    const double numeric = slope([&](double step) {
      Tensors moved = inputs;
      moved[i] = inputs[i] + direction * step;
      return objective(layer, moved).item();
    });
    INFO(row.name << " input " << i << (training ? " in training" : ""));
    REQUIRE(by_input[i]);
    CHECK(ops::sum(by_input[i] * direction).item() == Approx(numeric).epsilon(1e-4).margin(1e-6));
  }
}

/// Half-width computation on float32 weights: outputs of the policy's dtype, near those of float32.
void check_mixed(const LayerRow& row, Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  const LayerPtr mixed = layer_of(row, "mixed_bfloat16");
  mixed->build_for(shapes_of(inputs));
  mixed->set_weights(layer.get_weights());
  for (const Variable& v : mixed->weights())
    CHECK((v.dtype() == DType::float32 || !is_floating(v.dtype())));
  const Tensors rough = (*mixed)(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(row.name << ": " << to_text(rough[i].dtype()));
    CHECK(rough[i].dtype() == DType::bfloat16);
    CHECK(near(rough[i], outputs[i], 0.1));
  }
  GradientTape tape;
  const Tensor value = objective(Calls(*mixed, false), inputs);
  tape.stop();
  const Variables weights = mixed->trainable_weights();
  for (const Tensor& g : tape.gradient(value, std::span<const Variable>(weights)))
    CHECK((g && g.dtype() == DType::float32));
}

/// As the only layer of a model: predicts what it computes, and the same after a trip through a
/// file.
void check_saving(const LayerRow& row, const Tensors& inputs) {
  std::vector<Symbol> symbols;
  for (const Tensor& t : inputs) {
    InputOptions options;
    options.shape = t.shape().slice(1, t.rank());
    options.dtype = t.dtype();
    symbols.push_back(Input(options));
  }
  const LayerPtr layer = layer_of(row);
  auto model = Functional::make(symbols, (*layer)(symbols));
  CallOptions inference;
  inference.training = false;
  const Tensors outputs = (*layer)(inputs, inference), predicted = model->predict(inputs);
  for (const std::string path : {"check_layer_test.h5", "check_layer_test.keras"}) {
    save_model(*model, path);
    const Tensors loaded = load_model(path, {{"compile", false}})->predict(inputs);
    std::remove(path.c_str());
    for (size_t i = 0; i < outputs.size(); ++i) {
      INFO(row.name << " through " << path);
      CHECK(near(predicted[i], outputs[i], 1e-5));
      CHECK(near(loaded[i], predicted[i], 1e-6));
    }
  }
}

void check_training(Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  CallOptions training;
  training.training = true;
  CHECK(shapes_of(layer(inputs, training)) == shapes_of(outputs));
}

void check_layer(const LayerRow& row) {
  const LayerPtr layer = layer_of(row);
  const Tensors inputs = inputs_of(row);
  const Tensors outputs = (*layer)(inputs);
  check_shapes(row, *layer, inputs, outputs);
  check_config(*layer, inputs, outputs);
  check_training(*layer, inputs, outputs);
  for (const bool training : {false, true}) {
    check_compiled(Calls(*layer, training), inputs);
    check_gradients(row, training);
  }
  check_mixed(row, *layer, inputs, outputs);
  check_saving(row, inputs);
  CHECK_FALSE(layer->info()->schema.description.empty());
  for (const Field& field : layer->info()->schema.fields) CHECK_FALSE(field.doc.empty());
}

}  // namespace

TEST_CASE("every layer keeps the rules of layers") {
  for (const LayerRow& row : layer_rows()) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    DYNAMIC_SECTION(row.name << " " << to_text(Value(row.options))) {
      try {
        check_layer(row);
      } catch (const Error& error) {
        FAIL_CHECK(row.name << ": " << error.what());
      }
    }
  }
}

TEST_CASE("every row has its layer, except for those that wait for it") {
  for (const LayerRow& row : layer_rows()) {
    const bool there = registry().find(Layer::kKind, row.name) != nullptr;
    if (there == kMissing.contains(row.name))
      FAIL_CHECK(row.name << (there ? " is there: take it out of the list" : " is not registered"));
  }
}

TEST_CASE("every registered layer has a row") {
  std::set<std::string> covered{"InputLayer", "OperationLayer", "Sequential", "Functional"};
  for (const LayerRow& row : layer_rows()) covered.insert(row.name);
  const std::set<std::string> wrapping{"Lambda",
                                       "RNN",
                                       "SimpleRNNCell",
                                       "LSTMCell",
                                       "GRUCell",
                                       "StackedRNNCells",
                                       "SpectralNormalization"};
  for (const std::string& name : registry().names(Layer::kKind)) {
    INFO(name);
    CHECK((covered.contains(name) || wrapping.contains(name)));
  }
}

// ---- arrays without elements

namespace {

/// Outputs, then gradients of their sum by weights and inputs.
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

/// The same whatever lay in the memory before, eagerly and compiled.
void check_empty(const LayerRow& row) {
  try {
    const LayerPtr layer = layer_of(row);
    const Tensors inputs = inputs_of(row);
    auto run = [&](uint8_t byte, bool compiled) {
      test::poison(byte);
      auto f = [&](const Tensors& x) { return outputs_and_gradients(*layer, x); };
      return compiled ? Function(f)(inputs) : f(inputs);
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
    const size_t states = std::string(name) == "LSTMCell" ? 2 : 1;
    CHECK_THROWS_WITH((*cell)(x),
                      Contains("is a cell") && Contains("RNN(cell)") && Contains("Got 1 inputs"));
    CHECK_THROWS_WITH(cell->build_for({{2, 3}}), Contains("is a cell"));
    Tensors inputs(1 + states, h);
    inputs[0] = x;
    CHECK((*cell)(inputs).size() == 1 + states);
    CHECK_THROWS_WITH((*cell)(x), Contains("is a cell"));
    auto model = Sequential::make({}, "");
    model->add(make<Layer>("InputLayer", {{"batch_input_shape", List{Value(), 3}}}));
    CHECK_THROWS_WITH(model->add(make<Layer>(name, {{"units", 2}})), Contains("RNN(cell)"));
  }
  for (const LayerRow& row : layer_rows()) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    INFO(row.name);
    const LayerPtr built = layer_of(row), fresh = layer_of(row);
    const Tensors inputs = inputs_of(row);
    (*built)(inputs);
    for (const LayerPtr& layer : {built, fresh}) {
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
  const Dict attention{{"num_heads", 1}, {"key_dim", 2}, {"output_shape", List{}}};
  CHECK_THROWS_WITH(make<Layer>("MultiHeadAttention", attention), Contains("output_shape"));
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
