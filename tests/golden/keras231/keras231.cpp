// Layers and activations compared with results of Keras 2.3.1 (keras231.json); configurations are
// read with the meaning of this version. Inputs and weights are not recorded but computed by the
// rule in the file's `note`.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

/// Cases that cannot be compared yet; the configuration of Masking_LSTM is not recorded.
const std::set<std::string> kMissing = {"Masking_LSTM"};

Tensor tensor_of(const Value& numbers, const Shape& shape) {
  std::vector<float> values;
  for (const Value& number : numbers.as_list())
    values.push_back(static_cast<float>(number.as_float()));
  return Tensor::from(values, shape);
}

/// A part of the recording; empty if there is none.
Dict recorded_part(const char* name) {
  const std::string path = folder() + "/keras231.json";
  if (!is_there(path)) return {};
  std::ifstream file(path);
  return parse_json(std::string(std::istreambuf_iterator<char>(file), {}))
      .as_dict()
      .at(name)
      .as_dict();
}

/// The input: linspace(-1, 1, n) in this shape.
Tensor input_of(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(-1 + 2.0 * static_cast<double>(i) /
                                            static_cast<double>(values.size() - 1));
  return Tensor::from(values, shape);
}

/// Weight number `j` of a layer: element i is 0.5 sin(1.7 i + j); variances are made positive.
Tensor weight_of(const Variable& weight, size_t j) {
  std::vector<float> values(static_cast<size_t>(weight.shape().size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = 0.5 * std::sin(1.7 * static_cast<double>(i) + static_cast<double>(j));
    values[i] =
        static_cast<float>(weight.name() == "moving_variance" ? std::abs(value) + 0.5 : value);
  }
  return Tensor::from(values, weight.shape());
}

/// The recorded weight with its elements in Crescent's order. The recording was computed with
/// Theano, which flips the kernels of depthwise convolutions.
Tensor in_our_order(const Layer& layer, const Variable& weight, const Tensor& value) {
  const bool is_depthwise_kernel =
      layer.class_name() == "DepthwiseConv2D" && weight.name() == "kernel";
  return is_depthwise_kernel || weight.name() == "depthwise_kernel" ? ops::flip(value, {0, 1})
                                                                    : value;
}

void check_layer(Layer& layer, const Dict& recorded) {
  const Tensor x = input_of(Codec<Shape>::decode(recorded.at("x_shape")));
  layer.build_for({x.shape()});
  Tensors weights;
  for (size_t j = 0; j < layer.weights().size(); ++j)
    weights.push_back(in_our_order(layer, layer.weights()[j], weight_of(layer.weights()[j], j)));
  layer.set_weights(weights);
  const Tensors got = layer(Tensors{x});
  const List& shapes = recorded.at("y_shape").as_list();
  REQUIRE(got.size() == shapes.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("output " << i);
    const Tensor want = tensor_of(recorded.at("y").as_list()[i], Codec<Shape>::decode(shapes[i]));
    CHECK(difference(got[i], want, kValues) == "");
  }
}

/// The recorded configuration. The configuration of the layer inside Bidirectional_LSTM is not
/// recorded but is inferred from weights and outputs.
Value config_of(const std::string& name, const Dict& recorded) {
  Value config = recorded.at("config");
  const std::string wrapper = "Bidirectional_";
  if (!name.starts_with(wrapper)) return config;
  const Value& units = recorded.at("weight_shapes").as_list().at(1).as_list().at(0);
  const bool returns_sequences = recorded.at("y_shape").as_list().at(0).as_list().size() == 3;
  config.as_dict().set(
      "layer", Dict{{"class_name", name.substr(wrapper.size())},
                    {"config", Dict{{"units", units}, {"return_sequences", returns_sequences}}}});
  return config;
}

}  // namespace

TEST_CASE("layers with the options of Keras 2.3.1 give its outputs") {
  const Dict recorded = recorded_part("layers");
  if (recorded.empty()) return;
  Tally tally(kMissing);
  for (const auto& [name, value] : recorded) {
    INFO(name);
    const Dict& layer_record = value.as_dict();
    const LayerPtr layer =
        layer_record.contains("config")
            ? layer_if_known(name.substr(0, name.find('_')), config_of(name, layer_record), "2.3.1")
            : nullptr;
    if (!layer) {
      tally.count_skipped(name);
      continue;
    }
    try {
      check_layer(*layer, layer_record);
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  tally.check();
}

TEST_CASE("losses give what they gave in Keras 2.3.1") {
  const Dict recorded = recorded_part("loss");
  if (recorded.empty()) return;
  const Shape shape = Codec<Shape>::decode(recorded.at("shape"));
  const Tensor truth = tensor_of(recorded.at("y_true"), shape);
  const Tensor prediction = tensor_of(recorded.at("y_pred"), shape);
  // The case huber_loss is left out, because in Keras 2.3.1 it has one value per element.
  Tally tally({"huber_loss"});
  for (const auto& [name, value] : recorded) {
    INFO(name);
    if (name == "y_true" || name == "y_pred" || name == "shape") continue;
    const int64_t size = static_cast<int64_t>(value.as_list().size());
    Tensor got;
    if (name == "huber_loss") {
      tally.count_skipped(name);
      continue;
    } else if (name.starts_with("MSE class")) {
      const bool is_sum = name.ends_with(", sum");
      const auto loss =
          make<Loss>("MeanSquaredError", {{"reduction", is_sum ? "sum" : "sum_over_batch_size"}});
      const Tensor weights = Tensor::from(std::vector<float>{1, 3}, {2});
      got = ops::reshape((*loss)(truth, prediction, weights), {1});
    } else if (name.starts_with("sparse")) {
      const Tensor classes = Tensor::from(std::vector<int32_t>{1, 2}, {2});
      got = get<Loss>("sparse_categorical_crossentropy")->call(classes, prediction);
    } else {
      got = get<Loss>(name)->call(truth, prediction);
    }
    CHECK(difference(got, tensor_of(value, {size}), kValues) == "");
    tally.count_compared();
  }
  tally.check();
}

TEST_CASE("optimizers with the options of Keras 2.3.1 take its steps") {
  const Dict recorded = recorded_part("opt");
  if (recorded.empty()) return;
  // The defaults are those of Keras 2.3.1; `decay` divides the learning rate by 1 + decay * steps.
  auto decayed_rate = [](double rate, double decay) {
    return Dict{{"class_name", "InverseTimeDecay"},
                {"config",
                 Dict{{"initial_learning_rate", rate}, {"decay_steps", 1}, {"decay_rate", decay}}}};
  };
  const std::map<std::string, std::pair<const char*, Dict>> optimizers{
      {"SGD()", {"SGD", {}}},
      {"SGD(momentum=.9)", {"SGD", {{"momentum", 0.9}}}},
      {"SGD(.1,momentum=.9,nesterov=True,decay=.1)",
       {"SGD", {{"learning_rate", decayed_rate(0.1, 0.1)}, {"momentum", 0.9}, {"nesterov", true}}}},
      {"RMSprop()", {"RMSprop", {{"epsilon_outside", true}}}},
      {"Adagrad()",
       {"Adagrad",
        {{"learning_rate", 0.01}, {"initial_accumulator_value", 0}, {"epsilon_outside", true}}}},
      {"Adadelta()", {"Adadelta", {{"learning_rate", 1}}}},
      {"Adam()", {"Adam", {}}},
      {"Adam(decay=.1)", {"Adam", {{"learning_rate", decayed_rate(0.001, 0.1)}}}},
      {"Adam(amsgrad=True)", {"Adam", {{"amsgrad", true}}}},
      {"Adamax()", {"Adamax", {{"learning_rate", 0.002}}}},
      {"Nadam()", {"Nadam", {{"learning_rate", 0.002}, {"schedule_decay", 0.004}}}}};
  const int64_t count = static_cast<int64_t>(recorded.at("p0").as_list().size());
  for (const auto& [name, value] : recorded) {
    if (!value.is_list() || name == "p0" || name == "grads") continue;
    INFO(name);
    REQUIRE(optimizers.count(name) == 1);
    const auto& [class_name, options] = optimizers.at(name);
    const auto optimizer = make<Optimizer>(class_name, options);
    const Variables weights{Variable(tensor_of(recorded.at("p0"), {count}))};
    for (size_t step = 0; step < value.as_list().size(); ++step) {
      optimizer->apply(Tensors{tensor_of(recorded.at("grads").as_list()[step], {count})}, weights);
      const Tensor want = tensor_of(value.as_list()[step], {count});
      CHECK(difference(weights[0].value(), want, kValues) == "");
    }
  }
}

TEST_CASE("batch normalization trains as in Keras 2.3.1") {
  const Dict recorded = recorded_part("bn_train");
  if (recorded.empty()) return;
  constexpr int64_t kRows = 8, kColumns = 4;
  const Dict options{{"momentum", recorded.at("momentum")}, {"epsilon", 1e-3}};
  const LayerPtr layer = layer_if_known("BatchNormalization", options, "2.3.1");
  layer->build_for({{kRows, kColumns}});
  const auto weights = [&](const char* name) {
    Tensors values;
    for (const Value& row : recorded.at(name).as_list())
      values.push_back(tensor_of(row, {kColumns}));
    return values;
  };
  layer->set_weights(weights("weights_before"));
  (*layer)(input_of({kRows, kColumns}), {.training = true});
  Tensors want = weights("weights_after");
  // The recording was computed with Theano, whose variance includes epsilon.
  constexpr double kEpsilon = 1e-3;
  const double batch_share = 1 - recorded.at("momentum").as_float();
  want.back() = want.back() - batch_share * kEpsilon * kRows / (kRows - 1 - kEpsilon);
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(difference(layer->get_weights()[i], want[i], kValues) == "");
}

TEST_CASE("activations give what they gave in Keras 2.3.1") {
  const Dict recorded = recorded_part("act");
  if (recorded.empty()) return;
  const Value& inputs = recorded.at("x");
  const Shape shape{static_cast<int64_t>(inputs.as_list().size())};
  Tally tally({"relu(alpha=.1,max=2,thr=1)"});
  for (const auto& [name, value] : recorded) {
    INFO(name);
    if (name == "x") continue;
    if (name.find('(') != name.npos) {
      tally.count_skipped(name);
      continue;
    }
    const LayerPtr layer = layer_if_known("Activation", Dict{{"activation", name}}, "2.3.1");
    CHECK(difference((*layer)(tensor_of(inputs, shape)), tensor_of(value, shape), kValues) == "");
    tally.count_compared();
  }
  tally.check();
}
