// Sequential and functional models, shared and nested layers, configurations, summaries.
#include <catch2/catch.hpp>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

LayerPtr dense(int64_t units, Dict options = {}) {
  options.set("units", units);
  return make<Layer>("Dense", options);
}
Dict input_of(std::initializer_list<int64_t> shape) {
  return {{"input_shape", List(shape.begin(), shape.end())}};
}
Tensor values(std::vector<float> v, const Shape& shape) { return Tensor::from(v, shape); }

bool are_near(const Tensor& a, const Tensor& b, double tolerance = 1e-6) {
  const auto x = a.to_vector(), y = b.to_vector();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= tolerance)) return false;
  return true;
}

}  // namespace

TEST_CASE("Sequential builds when it knows its input, and can be popped") {
  auto model = Sequential::make();
  model->add(dense(10, {{"input_shape", List{4}}, {"activation", "relu"}, {"name", "first"}}));
  model->add(dense(1));
  CHECK(model->layers().size() == 2);
  CHECK(model->count_params() == 61);
  CHECK(model->output_shape().front() == Shape{-1, 1});
  CHECK(model->input_names().front() == "first_input");
  model->pop();
  CHECK(model->output_shape().front() == Shape{-1, 10});
  CHECK(model->predict({Tensor({2, 4}, DType::float32)}).front().shape() == Shape{2, 10});
  CHECK_THROWS_WITH(model->get_layer("frist"), Contains("No such layer: frist") &&
                                                   Contains("did you mean 'first'?") &&
                                                   Contains("Existing layers are: [first]."));
  CHECK_THROWS_WITH(model->get_layer(3),
                    "Was asked to retrieve layer at index 3 but model only has 1 layers.");
}

TEST_CASE("Sequential without an input shape waits for data") {
  auto model = Sequential::make({dense(3), dense(2)});
  CHECK_FALSE(model->built());
  std::string unbuilt_summary;
  for (const std::string& line : model->summary()) unbuilt_summary += line + "\n";
  CHECK_THAT(unbuilt_summary, Contains("0 (unbuilt)") && Contains("Total params: 0"));
  CHECK_THROWS_WITH(model->summary({{"flops", true}}),
                    Contains("This model has not yet been built."));
  CHECK(model->predict({Tensor({5, 4}, DType::float32)}).front().shape() == Shape{5, 2});
  CHECK(model->count_params() == 4 * 3 + 3 + 3 * 2 + 2);
  auto from_config = model_from_config(model_config(*model));
  CHECK(from_config->built());
  CHECK(to_json(model_config(*from_config)) == to_json(model_config(*model)));
}

TEST_CASE("functional models rebuild from their configuration") {
  const Symbol a = Input({6}, "a"), b = Input({6}, "b");
  auto shared_layer = dense(4, {{"name", "shared"}});
  const Symbol sum = (*make<Layer>("Add", {{"name", "sum"}}))(
                         std::vector<Symbol>{(*shared_layer)(a), (*shared_layer)(b)})
                         .front();
  const Symbol out = (*dense(2, {{"name", "out"}}))(sum),
               side = (*dense(1, {{"name", "side"}}))(sum);
  auto model = Functional::make({a, b}, {out, side}, "two");
  CHECK(model->output_names() == std::vector<std::string>{"out", "side"});
  CHECK(model->count_params() == 28 + 10 + 5);
  auto from_json = model_from_json(model->to_json());
  CHECK(from_json->to_json() == model->to_json());
  from_json->set_weights(model->get_weights());
  const Tensor x = global_random().normal({3, 6}), y = global_random().normal({3, 6});
  const Tensors p = model->predict({x, y}), q = from_json->predict({x, y});
  CHECK(are_near(p[0], q[0]));
  CHECK(are_near(p[1], q[1]));
  CHECK_THROWS_WITH(Functional::make({a}, {out}),
                    Contains("Graph disconnected: cannot obtain value for tensor") &&
                        Contains("at layer \"shared\""));
  CHECK_THROWS_WITH(Functional::make({a, a}, {out}),
                    Contains("The list of inputs passed to the model is redundant."));
  // The input of a model may be the output of a layer in another model.
  auto head = Functional::make({sum}, {out});
  CHECK(head->inputs().front().shape() == Shape({-1, 4}));
  CHECK(head->operations().size() == 2);
  auto body = Functional::make({a, b}, {sum});
  CHECK(are_near(head->predict({body->predict({x, y}).front()}).front(), p[0]));
  CHECK_THROWS_WITH(Functional::make({side}, {out}), Contains("has no edge"));
}

TEST_CASE("a model is a layer") {
  auto inner_model = Sequential::make({dense(4, input_of({4}))}, "inner");
  const Symbol a = Input({4}), b = Input({4});
  const Symbol sum_of_both =
      (*make<Layer>("Add"))(std::vector<Symbol>{(*inner_model)(a), (*inner_model)(b)}).front();
  auto model = Functional::make({a, b}, {sum_of_both});
  CHECK(model->trainable_weights().size() == 2);
  CHECK(model->count_params() == 20);
  auto cloned_model = clone_model(*model);
  cloned_model->set_weights(model->get_weights());
  const Tensor x = global_random().normal({2, 4}), y = global_random().normal({2, 4});
  CHECK(are_near(model->predict({x, y}).front(), cloned_model->predict({x, y}).front()));
  std::string text;
  for (const std::string& line : model->summary()) text += line + "\n";
  CHECK_THAT(text, Contains("Total params: 20"));
  CHECK_THAT(text, Contains("inner[0][0]"));
}

TEST_CASE("names must be unique, classes known") {
  auto first = dense(2, {{"name", "same"}, {"input_shape", List{2}}}),
       second = dense(2, {{"name", "same"}});
  CHECK_THROWS_WITH(
      Sequential::make({first, second}),
      "The name \"same\" is used 2 times in the model. All layer names should be unique.");
  CHECK_THROWS_WITH(model_from_json(
                        R"({"class_name": "Sequential",
              "config": {"layers": [{"class_name": "Dens", "config": {}}]}})"),
                    Contains("Unknown layer: Dens") && Contains("did you mean 'Dense'?"));
  CHECK_THROWS_AS(model_from_json("[1, 2]"), Error);
  CHECK_THROWS_AS(model_from_json(R"({"class_name": "Functional", "config": {"layers": 3}})"),
                  Error);
  CHECK_THROWS_AS(model_from_json(
                      R"({"class_name": "Functional",
              "config": {"layers": [], "input_layers": [["a", 0, 0]], "output_layers": []}})"),
                  Error);
}

TEST_CASE("a model cannot be inside itself") {
  auto model = Sequential::make({dense(3, input_of({3}))}, "me");
  CHECK_THROWS_WITH(model->add(model), "Layer me cannot be inside itself");
  auto outer_model = Sequential::make({model}, "outer");
  CHECK_THROWS_WITH(model->add(outer_model), "Layer me cannot be inside itself");
  CHECK(model->predict({Tensor({1, 3}, DType::float32)}).front().shape() == Shape{1, 3});
}

TEST_CASE("inputs with a size of a batch take any other, whatever layers follow") {
  const Dict batch_of_five{{"batch_input_shape", List{5, 3, 2}}};
  const LayerPtr first = make<Layer>("InputLayer", batch_of_five),
                 lstm = make<Layer>("LSTM", {{"units", 2}});
  const auto model = Sequential::make({first, lstm, make<Layer>("Dense", {{"units", 1}})});
  CHECK(model->outputs()[0].shape() == Shape{5, 1});
  CHECK(model->predict({Tensor({7, 3, 2}, DType::float32)})[0].shape() == Shape{7, 1});
}

TEST_CASE("a summary shows names on their line, cut between letters") {
  std::string name;
  for (int i = 0; i < 40; ++i) name += "\xc3\xa4";
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 1}, {"input_shape", Value(List{2})}, {"name", name}}),
       make<Layer>("Dense", {{"units", 1}, {"name", "a\x1b[2J\nb"}})});
  const std::vector<std::string> lines = model->summary();
  for (const std::string& line : lines) CHECK(printable(line) == line);
  CHECK(lines[4] == name.substr(0, 2 * 28) + " (None, 1)                 3         ");
  CHECK_THAT(lines[6], Catch::StartsWith("a\\x1b[2J\\x0ab (Dense)        "));
}

TEST_CASE("a summary is laid out as Keras 2 does") {
  auto model =
      Sequential::make({dense(4, {{"input_shape", List{3}}, {"name", "dense_1"}}),
                        make<Layer>("BatchNormalization", {{"name", "batch_normalization_1"}}),
                        dense(2, {{"name", "dense_2"}})},
                       "sequential_1");
  const std::vector<std::string> want{
      "Model: \"sequential_1\"",
      "_________________________________________________________________",
      "Layer (type)                 Output Shape              Param #   ",
      "=================================================================",
      "dense_1 (Dense)              (None, 4)                 16        ",
      "_________________________________________________________________",
      "batch_normalization_1 (Batch (None, 4)                 16        ",
      "_________________________________________________________________",
      "dense_2 (Dense)              (None, 2)                 10        ",
      "=================================================================",
      "Total params: 42",
      "Trainable params: 34",
      "Non-trainable params: 8",
      "_________________________________________________________________"};
  CHECK(model->summary() == want);
}

TEST_CASE("a summary cuts no number of parameters") {
  auto inner_model =
      Sequential::make({dense(1000, {{"input_shape", List{99}}, {"name", "d"}})}, "inner");
  auto model = Sequential::make({inner_model, dense(1, {{"name", "e"}})}, "outer");
  const std::vector<std::string> narrow_summary = model->summary({{"line_length", 40}});
  CHECK(narrow_summary[3] == std::string(41, '='));
  CHECK(narrow_summary[4] == "inner (Sequential (None, 1000)    100,000");
  CHECK(narrow_summary[6] == "e (Dense)         (None, 1)       1,001  ");
  const std::vector<std::string> trainable_summary =
      model->summary({{"line_length", 40}, {"show_trainable", true}, {"expand_nested", true}});
  CHECK_THAT(trainable_summary[4], Catch::EndsWith(" 100,000 Y        "));
  CHECK_THAT(trainable_summary[5], Catch::EndsWith(" 100,000 Y        "));
}

TEST_CASE("inputs of other dtypes and nearly right ranks are taken") {
  auto model =
      Sequential::make({dense(1, {{"input_shape", List{1}}, {"kernel_initializer", "ones"}})});
  const std::vector<uint8_t> bytes{3, 200};
  CHECK(model->predict({Tensor::from(bytes, {2, 1})}).front().to_vector() ==
        std::vector<double>{3, 200});
  CHECK(model->predict({Tensor::from(bytes, {2})}).front().shape() == Shape{2, 1});
  CHECK_THROWS_WITH(model->predict({Tensor({2, 3}, DType::float32)}),
                    Contains("to have shape (1,) but got array with shape (3,)"));
  CHECK_THROWS_WITH(model->predict({Tensor({2, 3, 4}, DType::float32)}),
                    Contains("to have 2 dimensions, but got array with shape (2, 3, 4)"));
  CHECK_THROWS_WITH(model->predict({Tensor({0, 1}, DType::float32)}),
                    Contains("at least one sample"));
  CHECK_THROWS_WITH(model->predict({values({1}, {1, 1}), values({1}, {1, 1})}),
                    Contains("Expected to see 1 array(s)"));
}
