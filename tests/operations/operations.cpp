// Operations: functions that plugins register, and calls of them on symbols, which become layers of
// a graph.
#include <catch2/catch.hpp>

#include "call.h"

using namespace crescent;
using namespace crescent::operations_test;
using Catch::Contains;

namespace {

Tensor softcap(const Tensor& x, double limit) { return ops::tanh(x / limit) * limit; }

Symbol symbol_in(const Value& value) { return value.object_as<BoxedSymbol>()->symbol; }
Tensor tensor_in(const Value& value) { return Codec<Tensor>::decode(value); }

const Operation& softcap_operation() {
  static const auto operation = [] {
    Operations(registry(), "acme").add("Softcap", "softcap(x, limit=50.0)", softcap, "Bounded.");
    return get<Operation>(Value("softcap"));
  }();
  return *operation;
}

Tensor data() { return Tensor::from(std::vector<float>{1, -2, 3, -4, 5, -6}, {2, 3}); }

void check_same(const Tensor& a, const Tensor& b) {
  CHECK(a.spec() == b.spec());
  CHECK(a.to_vector() == b.to_vector());
}

}  // namespace

TEST_CASE("a row of a third party is a function, a layer of graphs and a node of files") {
  const Operation& operation = softcap_operation();
  const Tensor wanted = softcap(data(), 2);
  check_same(tensor_in(operation(operation.arguments({boxed(data()), 2.0}, {}))), wanted);
  check_same(tensor_in(operation({{"x", boxed(data())}})), softcap(data(), 50));

  const Symbol input = Input(Shape{3});
  const Symbol output = symbol_in(operation({{"x", boxed(input)}, {"limit", 2.0}}));
  CHECK(output.layer()->class_name() == "OperationLayer");
  CHECK(output.layer()->name().starts_with("softcap"));
  const ModelPtr model = Functional::make({input}, {output});
  check_same((*model)(data()), wanted);
  check_same((*clone_model(*model))(data()), wanted);
  const std::string json = model->to_json({{"target", "keras3"}});
  CHECK_THAT(json, Contains("\"module\": \"acme\", \"class_name\": \"Softcap\""));
  check_same((*model_from_json(json))(data()), wanted);
}

TEST_CASE("a row must have a name for each parameter of its function") {
  Operations operations(registry(), "acme");
  CHECK_THROWS_WITH(operations.add("Few", "few(x)", softcap), Contains("lacks parameter 2"));
  CHECK_THROWS_WITH(operations.add("Many", "many(x, limit, more)", softcap),
                    Contains("more than 2"));
  CHECK_THROWS_WITH(call("softcap", {{"x", boxed(data())}, {"limt", 1}}),
                    Contains("did you mean 'limit'?"));
  CHECK_THROWS_WITH(call("softcap", {}), Contains("missing required argument 'x'"));
  CHECK_THROWS_WITH(get<Operation>(Value("softcup")), Contains("did you mean 'softcap'?"));
}

TEST_CASE("null is an argument where the default is another, else it is not given") {
  const Value x = boxed(data());
  CHECK(tensor_in(call("sort", {{"x", x}, {"axis", Value()}})).shape() == Shape{6});
  CHECK(tensor_in(call("sort", {{"x", x}})).shape() == Shape{2, 3});
  CHECK(tensor_in(call("sum", {{"x", x}, {"axis", Value()}})).shape() == Shape{});
  CHECK_THROWS_WITH(call("softcap", {{"x", x}, {"limit", Value()}}), Contains("limit"));
}

TEST_CASE("constants of every dtype go through graphs and JSON") {
  const Tensor constants[] = {
      Tensor::from(std::vector<float>{0.5f, -1, 2}, {3}),
      Tensor::from(std::vector<int32_t>{1, 0, -3}, {3}),
      Tensor::from(std::vector<int64_t>{1, 0, 3}, {3}), Tensor::scalar(0.25, DType::float64),
      ops::cast(Tensor::from(std::vector<int32_t>{1, 0, 1}, {3}), DType::boolean)};
  for (const Tensor& constant : constants) {
    INFO(to_text(constant.spec()));
    const Symbol input = Input(Shape{3});
    const Symbol output =
        symbol_in(call("multiply", {{"x1", boxed(input)}, {"x2", boxed(constant)}}));
    const ModelPtr model = Functional::make({input}, {output});
    const Tensor wanted = ops::multiply(data(), constant);
    check_same((*model)(data()), wanted);
    for (const char* target : {"keras3", "crescent"})
      check_same((*model_from_json(model->to_json({{"target", target}})))(data()), wanted);
  }
}

TEST_CASE("arguments are in files where Keras 3 looks for them") {
  struct OperationCase {
    const char* function;
    Dict arguments;  ///< arguments besides x
    const char *class_name, *config, *kwargs;
  };
  const OperationCase rows[] = {
      {"repeat", {{"repeats", 2}, {"axis", 1}}, "Repeat", R"({"repeats": 2, "axis": 1})", "{}"},
      {"layer_normalization",
       {},
       "LayerNorm",
       R"({"axis": -1, "epsilon": null, "rms_scaling": false})",
       R"({"gamma": null, "beta": null})"},
      {"average", {{"axis", 1}}, "Average", R"({"axis": 1})", R"({"weights": null})"}};
  for (const OperationCase& operation_case : rows) {
    const Symbol input = Input(Shape{3});
    Dict arguments = operation_case.arguments;
    arguments.set("x", boxed(input));
    const ModelPtr model =
        Functional::make({input}, {symbol_in(call(operation_case.function, arguments))}, "m");
    const Value written = parse_json(model->to_json({{"target", "keras3"}}));
    const Dict& entry =
        written.as_dict().at("config").as_dict().at("layers").as_list().at(1).as_dict();
    CHECK(entry.at("class_name") == Value(operation_case.class_name));
    Dict config = entry.at("config").as_dict();
    config.erase("name");
    CHECK(Value(config) == parse_json(operation_case.config));
    const Dict& node = entry.at("inbound_nodes").as_list().at(0).as_dict();
    CHECK(node.at("args").as_list().size() == 1);
    CHECK(node.at("kwargs") == parse_json(operation_case.kwargs));
    check_same((*model_from_json(to_json(written)))(data()), (*model)(data()));
  }
}

TEST_CASE("several tensors and results, in lists and one after the other") {
  const Symbol a = Input(Shape{3}), b = Input(Shape{3});
  const Symbol joined_symbol =
      symbol_in(call("concatenate", {{"xs", List{boxed(a), boxed(b)}}, {"axis", -1}}));
  CHECK(joined_symbol.shape() == Shape{-1, 6});
  const Value split_parts =
      call("split", {{"x", boxed(joined_symbol)}, {"indices_or_sections", 3}, {"axis", 1}});
  REQUIRE(split_parts.as_list().size() == 3);
  const Value largest_values = call("top_k", {{"x", boxed(joined_symbol)}, {"k", 2}});
  REQUIRE(largest_values.as_list().size() == 2);
  CHECK(symbol_in(largest_values.as_list()[1]).dtype() == DType::int32);
  const ModelPtr model = Functional::make(
      {a, b}, {symbol_in(split_parts.as_list()[1]), symbol_in(largest_values.as_list()[0])});
  const Tensors results = (*model_from_json(model->to_json()))(Tensors{data(), data() * 2.0});
  CHECK(results[0].to_vector() == std::vector<double>{3, 2, -6, -8});
  CHECK(results[1].to_vector() == std::vector<double>{6, 3, 10, 5});
}

TEST_CASE("a graph with operations trains, is rewired, and keeps integers and masks in order") {
  const Symbol input = Input(Shape{3});
  const LayerPtr dense = make<Layer>("Dense", {{"units", 2}});
  const Symbol scaled_symbol =
      symbol_in(call("multiply", {{"x1", boxed((*dense)(input))}, {"x2", 3}}));
  const ModelPtr model = Functional::make({input}, {scaled_symbol});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const Tensors weights_before = model->get_weights();
  model->fit({data()}, {ops::zeros({2, 2})}, {{"epochs", 2}, {"verbose", 0}});
  CHECK(model->get_weights()[0].to_vector() != weights_before[0].to_vector());

  const ModelPtr other_model = rewire(*model, {{dense, make<Layer>("Dense", {{"units", 5}})}});
  CHECK((*other_model)(data()).shape() == Shape{2, 5});

  InputOptions integer_options;
  integer_options.shape = Shape{3};
  integer_options.dtype = DType::int32;
  const Symbol ids = Input(integer_options);
  CHECK(symbol_in(call("add", {{"x1", boxed(ids)}, {"x2", 1}})).dtype() == DType::int32);
  const LayerPtr embedding =
      make<Layer>("Embedding", {{"input_dim", 9}, {"output_dim", 2}, {"mask_zero", true}});
  const Symbol embedded_symbol = (*embedding)(ids);
  CHECK(embedded_symbol.abstract().mask());
  CHECK(!symbol_in(call("relu", {{"x", boxed(embedded_symbol)}})).abstract().mask());
}

TEST_CASE("what has no place in a graph is refused") {
  const Symbol input = Input(Shape{3});
  const Value variable = Codec<Variable>::encode(Variable(data()));
  CHECK_THROWS_WITH(call("add", {{"x1", boxed(input)}, {"x2", variable}}),
                    Contains("make a layer"));
  check_same(tensor_in(call("add", {{"x1", variable}, {"x2", 1}})), data() + 1);
  CHECK_THROWS_WITH(call("unique", {{"x", boxed(input)}}), Contains("depends on values"));
  CHECK(call("shape", {{"x", boxed(input)}}) == Value(List{-1, 3}));
}
