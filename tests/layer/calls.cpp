// Calling layers: building, losses, state, names in errors, masks.
#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>

#include "sample_layers.h"

using namespace crescent;
using namespace crescent::samples;
using Catch::Contains;

TEST_CASE("a layer builds at its first call and locks its input") {
  auto layer = std::make_shared<Linear>(2, "d");
  CHECK_FALSE(layer->built());
  CHECK_THROWS_WITH(layer->count_params(),
                    Contains("You tried to call `count_params` on d, but the layer isn't built."));
  const Tensor y = (*layer)(Tensor::full({1, 3}, 1));
  CHECK(y.to_vector() == std::vector<double>{3, 3});
  CHECK(layer->count_params() == 8);
  CHECK(layer->weights().front().path() == "d/w");
  CHECK_THROWS_WITH((*layer)(Tensor({2, 5}, DType::float32)),
                    Contains("Input 0 is incompatible with layer d: expected axis -1 of input "
                             "shape to have value 3 but got shape (2, 5)"));
  CHECK_THROWS_WITH((*layer)(Tensor({3}, DType::float32)),
                    Contains("expected min_ndim=2, found ndim=1"));
}

TEST_CASE("losses are those of the last outermost call, of sublayers too") {
  auto block = std::make_shared<Block>();
  for (int i = 0; i < 2; ++i) {
    (*block)(Tensor::full({1, 3}, 1));
    const Tensors losses = block->losses();
    REQUIRE(losses.size() == 2);
    CHECK(losses[0].item() == 9);
    CHECK(losses[1].item() == 18);
  }
  CHECK(block->weights().size() == 4);
  CHECK(block->flatten_layers().size() == 3);
}

TEST_CASE("working out shapes leaves state and losses alone") {
  auto counter = std::make_shared<Counter>();
  CHECK(counter->compute_output_shape({{-1, 5}}) == std::vector<Shape>{{-1, 5}});
  CHECK(counter->count() == 0);
  (*counter)(Tensor({4, 5}, DType::float32));
  CHECK(counter->count() == 4);
  auto linear = std::make_shared<Linear>(2);
  CHECK(linear->compute_output_shape({{-1, 3}}) == std::vector<Shape>{{-1, 2}});
  CHECK(linear->losses().empty());
}

TEST_CASE("training is inherited from the call around") {
  auto wrapper = std::make_shared<Wrapper>(std::make_shared<Counter>());
  const Tensor x = Tensor::full({1, 1}, 3);
  CHECK((*wrapper)(x).item() == 3);
  CallOptions training;
  training.training = true;
  CHECK((*wrapper)(x, training).item() == 6);
}

TEST_CASE("freezing moves weights, recursively") {
  auto block = std::make_shared<Block>();
  (*block)(Tensor::full({1, 3}, 1));
  CHECK(block->trainable_weights().size() == 4);
  block->set_trainable(false);
  CHECK(block->trainable_weights().empty());
  CHECK(block->non_trainable_weights().size() == 4);
  CHECK_FALSE(block->sublayers().front()->trainable());
}

TEST_CASE("weights go in and out as copies, with Keras' messages") {
  auto layer = std::make_shared<Linear>(2, "w");
  (*layer)(Tensor::full({1, 3}, 1));
  Tensors values = layer->get_weights();
  layer->set_weights({Tensor::full({3, 2}, 5), Tensor::full({2}, 1)});
  CHECK(values.front().to_vector().front() == 1);
  CHECK((*layer)(Tensor::full({1, 3}, 1)).to_vector() == std::vector<double>{16, 16});
  CHECK_THROWS_WITH(
      layer->set_weights({values[0]}),
      Contains(
          "on layer \"w\" with a weight list of length 1, but the layer was expecting 2 weights."));
  CHECK_THROWS_WITH(
      layer->set_weights({values[1], values[1]}),
      Contains("Layer weight shape (3, 2) not compatible with provided weight shape (2)") ||
          Contains("Layer weight shape (3, 2) not compatible with provided weight shape (2,)"));
}

TEST_CASE("errors carry the layer's name once") {
  auto outer_layer = std::make_shared<Wrapper>(std::make_shared<Linear>(2, "inside"));
  outer_layer->set_name("outside");
  try {
    (*outer_layer)(Tensor({2, 0, 0}, DType::float32));
  } catch (const Error&) {
  }
  auto bad_wrapper = std::make_shared<Wrapper>(std::make_shared<Linear>(2, "inside"));
  (*bad_wrapper)(Tensor({2, 3}, DType::float32));
  try {
    (*bad_wrapper)(Tensor({2, 4}, DType::float32));
    FAIL("expected an error");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("inside") != text.npos);
    CHECK(text.find("inside", text.find("inside") + 1) == text.npos);
  }
}

TEST_CASE("the innermost layer is named, once, whatever the layers are called") {
  const Tensor x({2, 4}, DType::float32);
  for (const char* expected_part : {"e", "Layer ", "a", "expected"}) {
    auto outer_layer = std::make_shared<Wrapper>(
        std::make_shared<Thrower>([] { fail("no letter of it is here: ###"); }, expected_part));
    outer_layer->set_name("outside");
    CHECK_THROWS_WITH((*outer_layer)(x),
                      concat("Layer ", expected_part, " (Thrower): no letter of it is here: ###"));
    CHECK_THROWS_WITH((*outer_layer)(x),
                      concat("Layer ", expected_part, " (Thrower): no letter of it is here: ###"));
    try {
      (*outer_layer)(x);
    } catch (const Error& error) {
      CHECK(error.layer() == expected_part);
    }
  }
}

TEST_CASE("a message that names its layer is left alone, one that names another is not") {
  const Tensor x({2, 4}, DType::float32);
  Thrower own_error([] { fail_in_layer("e", "Input 0 is incompatible with layer e"); }, "e"),
      other_error([] { fail("Layer weight shape"); }, "e");
  CHECK_THROWS_WITH(own_error(x), "Input 0 is incompatible with layer e");
  CHECK_THROWS_WITH(other_error(x), "Layer e (Thrower): Layer weight shape");
}

TEST_CASE("an error that a layer throws stays what it is, what is no error becomes one") {
  struct SpecialError final : Error {
    using Error::Error;
  };
  const Tensor x({2, 4}, DType::float32);
  CHECK_THROWS_AS(Thrower([] { throw SpecialError("mine"); }, "e")(x), SpecialError);
  CHECK_THROWS_WITH(Thrower([] { throw SpecialError("mine"); }, "e")(x), "Layer e (Thrower): mine");
  CHECK_THROWS_AS(Thrower([] { throw Interrupted("stop"); }, "e")(x), Interrupted);
  CHECK_THROWS_WITH(Thrower([] { throw Interrupted("stop"); }, "e")(x), "stop");
  CHECK_THROWS_WITH(Thrower([] { throw std::out_of_range("place 7"); }, "e")(x),
                    "Layer e (Thrower): std::out_of_range: place 7");
  CHECK_THROWS_WITH(Thrower([] { throw 42; }, "e")(x),
                    "Layer e (Thrower): an exception of type int");
  CHECK_THROWS_WITH(Thrower([] { throw std::bad_alloc(); }, "e")(x),
                    "Layer e (Thrower): not enough memory");
}

TEST_CASE("a mask ends at a layer that does not know masks") {
  static int warnings = 0;
  warnings = 0;
  set_warning_handler([](std::string_view) { ++warnings; });
  auto layer = std::make_shared<Linear>(2);
  const Tensor x = Tensor::full({1, 3}, 1).with_mask(Tensor({1}, DType::boolean));
  CHECK_FALSE((*layer)(x).mask());
  CHECK_FALSE((*layer)(x).mask());
  CHECK(warnings == 1);
  layer->set_supports_masking(true);
  CHECK((*layer)(x).mask());
  set_warning_handler(nullptr);
}

TEST_CASE("policies cast what floats") {
  const DTypePolicy mixed_policy = DTypePolicy::named("mixed_bfloat16");
  CHECK(mixed_policy.compute == DType::bfloat16);
  CHECK(mixed_policy.variables == DType::float32);
  CHECK_THROWS_WITH(DTypePolicy::named("float31"), Contains("float31"));
  CHECK(Codec<DTypePolicy>::decode(
            parse_json(R"({"class_name": "DTypePolicy", "config": {"name": "float64"}})"))
            .compute == DType::float64);
}
