// Which layers of a model are quantized, and what is refused.
#include <catch2/catch.hpp>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

std::shared_ptr<Sequential> two_layers() {
  return Sequential::make(
      {make<Layer>("Dense", {{"units", 4}, {"input_shape", List{3}}, {"name", "one"}}),
       make<Layer>("ReLU"), make<Layer>("Dense", {{"units", 2}, {"name", "two"}})});
}

/// The quantization modes of the layers after a model of two layers was quantized.
std::string modes_after(const QuantizeOptions& options) {
  const auto model = two_layers();
  quantize_model(*model, options);
  std::string modes;
  for (const LayerPtr& layer : model->layers())
    modes += quantization_mode(*layer).value_or("-") + " ";
  return modes;
}

}  // namespace

TEST_CASE("every layer that can be is quantized, or those that are chosen") {
  CHECK(modes_after({.mode = "int8"}) == "int8 - int8 ");
  CHECK(modes_after({.mode = "int4"}) == "int4 - int4 ");
  CHECK(modes_after({.config = "Int8QuantizationConfig"}) == "int8 - int8 ");
  CHECK(modes_after({.mode = "int8", .names = {{"^t.o$"}}}) == "- - int8 ");
  CHECK(modes_after({.mode = "int8", .names = std::vector<std::string>{}}) == "- - - ");
  CHECK(modes_after({.mode = "int8",
                     .filter = [](Layer& layer) { return layer.name() == "one"; }}) == "int8 - - ");
}

TEST_CASE("a quantized layer gives nearly what it gave") {
  const auto model = two_layers();
  const Tensor x = SeedGenerator(1).uniform({5, 3}, -1, 1);
  const std::vector<double> before = model->predict({x}).front().to_vector();
  quantize_layer(*model->layers().front(), {.mode = "int8"});
  const std::vector<double> after = model->predict({x}).front().to_vector();
  for (size_t i = 0; i < before.size(); ++i) CHECK(std::abs(before[i] - after[i]) < 0.05);
  CHECK(before != after);
}

TEST_CASE("what cannot be quantized is refused") {
  const auto model = two_layers();
  CHECK_THROWS_WITH(quantize_model(*model, {}), Contains("must provide either `mode` or `config`"));
  CHECK_THROWS_WITH(quantize_model(*model, {.mode = "int9"}), Contains("Received: mode=int9"));
  CHECK_THROWS_WITH(quantize_model(*model, {.mode = "int8", .names = {{"three"}}}),
                    Contains("'three' is not in the name of any layer that can be quantized"));
  CHECK_THROWS_WITH(quantize_model(*model, {.mode = "int8", .names = {{"("}}}),
                    Contains("expected a regular expression"));
  CHECK_THROWS_WITH(quantize_layer(*model->layers()[1], {.mode = "int8"}),
                    "Layer ReLU does not have a `quantize` method implemented.");
  const auto unbuilt = Sequential::make({make<Layer>("Dense", {{"units", 2}})});
  CHECK_THROWS_WITH(quantize_model(*unbuilt, {.mode = "int8"}),
                    Contains("(of type 'Sequential') is not built yet"));
}
