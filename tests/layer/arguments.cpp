// Arguments of a layer's call: they are declared and checked, have defaults, and work with tensors
// and symbols.
#include <catch2/catch.hpp>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

/// A layer that computes factor * x + shift, or x - other if the input `other` is given.
class Affine final : public Layer {
 public:
  static void describe(Schema<Affine>& s) {
    s.doc("For the test.")
        .input("other", 1, "Taken from the first input.")
        .argument("factor", 1.0, "Of the input.")
        .argument("negate", false, "Turns the sign.")
        .argument("shift", {}, "Added.")
        .unsupported_argument("depth", "it is flat");
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    Tensor y = inputs[0] * call.argument("factor").as_float();
    if (inputs.size() > 1) y = y - inputs[1];
    if (const Tensor shift = call.tensor("shift")) y = y + shift;
    return {call.flag("negate") ? 0.0 - y : y};
  }
};

/// Makes the layer as the registry does. It is not registered, because every registered layer needs
/// a row in the table of layers.
LayerPtr affine() {
  const Affine defaults{};
  Schema<Affine> schema("Affine", &defaults);
  Affine::describe_base(schema);
  Affine::describe(schema);
  ClassInfo info;
  info.name = "Affine";
  info.schema = schema.data();
  auto layer = ClassFactory<Affine>(schema.data()).make({{"name", "affine"}});
  layer->attach(std::make_shared<const ClassInfo>(info));
  layer->configured();
  return std::dynamic_pointer_cast<Layer>(layer);
}

Value boxed(const Tensor& t) { return Value(std::make_shared<BoxedTensor>(t)); }
Value boxed(const Symbol& s) { return Value(std::make_shared<BoxedSymbol>(s)); }

CallOptions options_with(Dict arguments) {
  CallOptions options;
  options.arguments = std::move(arguments);
  return options;
}

}  // namespace

TEST_CASE("declared arguments reach call, with their defaults") {
  const LayerPtr layer = affine();
  const Tensor x = Tensor::full({1, 2}, 3);
  CHECK((*layer)(x).to_vector().front() == 3);
  CHECK((*layer)(x, options_with({{"factor", 2}, {"negate", true}})).to_vector().front() == -6);
  CHECK((*layer)(x, options_with({{"shift", boxed(Tensor::full({2}, 4))}})).to_vector().front() ==
        7);
  CHECK(
      (*layer)(x, options_with({{"other", boxed(Tensor::full({1, 2}, 1))}})).to_vector().front() ==
      2);
  CHECK((*layer)(x, options_with({{"factor", Value()}})).to_vector().front() == 3);
}

TEST_CASE("others are refused by name, kind and place") {
  const LayerPtr layer = affine();
  const Tensor x = Tensor::full({1, 2}, 3);
  CHECK_THROWS_WITH((*layer)(x, options_with({{"factr", 2}})),
                    Contains("Layer affine") && Contains("did you mean 'factor'?"));
  CHECK_THROWS_WITH((*layer)(x, options_with({{"wholly", 2}})),
                    Contains("call takes other, factor, negate, shift, training, mask"));
  CHECK_THROWS_WITH((*layer)(x, options_with({{"negate", 1}})),
                    Contains("'negate'") && Contains("expected a boolean"));
  CHECK_THROWS_WITH((*layer)(x, options_with({{"depth", 1}})),
                    Contains("not supported: it is flat"));
  CHECK_THROWS_WITH((*layer)(x, options_with({{"shift", 1}})),
                    Contains("'shift'") && Contains("expected a tensor"));
  CHECK_THROWS_WITH((*layer)({x, x}, options_with({{"other", boxed(x)}})), Contains("given twice"));
  CHECK_THROWS_WITH((*layer)(x, options_with({{"shift", boxed(Input({2}))}})),
                    Contains("has no values"));
}

TEST_CASE("symbols among the arguments are edges of the graph") {
  const LayerPtr layer = affine();
  const Symbol x = Input({2}, "x"), other_input = Input({2}, "other"), shift = Input({2}, "shift");
  const Symbol y = (*layer)(
      x, options_with({{"other", boxed(other_input)}, {"shift", boxed(shift)}, {"factor", 5}}));
  CHECK(y.node()->inputs == std::vector<Symbol>{x, other_input, shift});
  CHECK(y.node()->argument_inputs == 1);
  const auto model = Functional::make({x, other_input, shift}, {y});
  const Tensors inputs{Tensor::full({1, 2}, 3), Tensor::full({1, 2}, 1), Tensor::full({1, 2}, 10)};
  CHECK(model->predict(inputs).front().to_vector().front() == 24);
  CHECK_THROWS_WITH((*layer)(x, options_with({{"other", boxed(inputs[0])}})),
                    Contains("expected symbols"));
}

TEST_CASE("edges that are arguments are part of a configuration") {
  const LayerPtr attention = make<Layer>("MultiHeadAttention", {{"num_heads", 1}, {"key_dim", 2}});
  const Symbol x = Input({3, 4}, "x"), mask = Input({3, 3}, "mask");
  const Symbol y =
      (*attention)(std::vector<Symbol>{x, x}, options_with({{"attention_mask", boxed(mask)}}))
          .front();
  const auto model = Functional::make({x, mask}, {y});
  const auto reread_model = model_from_json(model->to_json());
  reread_model->set_weights(model->get_weights());
  const Tensors inputs{ops::reshape(ops::cast(ops::arange(12), DType::float32), {1, 3, 4}),
                       ops::reshape(ops::eye(3, 3), {1, 3, 3})};
  CHECK(reread_model->predict(inputs).front().to_vector() ==
        model->predict(inputs).front().to_vector());
  CHECK(reread_model->to_json() == model->to_json());
}
