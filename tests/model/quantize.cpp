// Quantization: which layers of a model are quantized, and errors.
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

/// The quantization modes of the layers after a model with two layers was quantized.
std::string modes_after(const QuantizeOptions& options) {
  const auto model = two_layers();
  quantize_model(*model, options);
  std::string modes;
  for (const LayerPtr& layer : model->layers())
    modes += quantization_mode(*layer).value_or("-") + " ";
  return modes;
}

/// The kernel of a layer after it was quantized to 4 bits, as float values.
std::vector<double> quantized_to_4_bits(const std::vector<float>& kernel, int64_t block) {
  const auto rows = static_cast<int64_t>(kernel.size());
  const auto layer = make<Layer>("Dense", {{"units", 1}, {"use_bias", false}});
  (*layer)(std::vector<Tensor>{ops::eye(rows)});
  layer->weights().front().assign(Tensor::from(kernel, {rows, 1}));
  quantize_layer(*layer, {.config = Dict{{"class_name", "Int4QuantizationConfig"},
                                         {"config", Dict{{"block_size", block}}}}});
  return (*layer)(std::vector<Tensor>{ops::eye(rows)}).front().to_vector();
}

/// The largest allowed error in the block that begins at `first`, in float64: a fifteenth of the
/// range that contains the values of the block and 0, because 4 bits divide this range into 15
/// steps.
double max_error_of(const std::vector<float>& kernel, size_t first, size_t block) {
  double smallest = 0, greatest = 0;
  for (size_t i = first; i < std::min(first + block, kernel.size()); ++i)
    smallest = std::min<double>(smallest, kernel[i]),
    greatest = std::max<double>(greatest, kernel[i]);
  return (greatest - smallest + 1e-7) / 15;
}

}  // namespace

TEST_CASE("4 bits are off by a step of 15 at most, whatever the size and the sign of a block") {
  const std::vector<std::vector<float>> kernels = {
      {2.1f, 2.4f, 2.9f, 2.2f, 2.7f, 2.5f, 2.3f, 2.8f, 2.6f, 2.15f, 2.05f},
      {-7, -7.5f, -6.9f, -7.1f, -7.9f, -8, -7.7f, -6.5f, -7.3f, -7.2f, -7.6f},
      {-1, 2, -3, 4, -0.5f, 0.25f, 1.5f, -2.5f, 3.5f, -1.5f, 0.75f},
      {0, 0, 0, 0, 1, 1, 1, 1, 1, -1, -1}};
  for (const auto& kernel : kernels)
    for (const int64_t block : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 128}) {
      const std::vector<double> quantized_kernel = quantized_to_4_bits(kernel, block);
      for (size_t i = 0; i < kernel.size(); ++i) {
        const auto block_size = static_cast<size_t>(block);
        const double max_error = max_error_of(kernel, i - i % block_size, block_size);
        CAPTURE(block, i, quantized_kernel[i], max_error);
        CHECK(std::abs(quantized_kernel[i] - kernel[i]) < 1.0001 * max_error + 1e-6);
      }
    }
}

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
  const std::vector<double> outputs_before = model->predict({x}).front().to_vector();
  quantize_layer(*model->layers().front(), {.mode = "int8"});
  const std::vector<double> outputs_after = model->predict({x}).front().to_vector();
  for (size_t i = 0; i < outputs_before.size(); ++i)
    CHECK(std::abs(outputs_before[i] - outputs_after[i]) < 0.05);
  CHECK(outputs_before != outputs_after);
}

TEST_CASE("a filter that fits no layer quantizes none and warns") {
  const auto model = two_layers();
  static std::string warning;
  set_warning_handler([](std::string_view text) { warning = text; });
  quantize_model(*model, {.mode = "int8", .names = {{"three"}}});
  set_warning_handler(nullptr);
  for (const LayerPtr& layer : model->layers()) CHECK_FALSE(quantization_mode(*layer));
  CHECK_THAT(warning, Contains("'three' is not in the name of any layer that can be quantized"));
}

TEST_CASE("what cannot be quantized is refused") {
  const auto model = two_layers();
  CHECK_THROWS_WITH(quantize_model(*model, {}), Contains("must provide either `mode` or `config`"));
  CHECK_THROWS_WITH(quantize_model(*model, {.mode = "int9"}), Contains("Received: mode=int9"));
  CHECK_THROWS_WITH(quantize_model(*model, {.mode = "int8", .names = {{"("}}}),
                    Contains("expected a regular expression"));
  CHECK_THROWS_WITH(quantize_layer(*model->layers()[1], {.mode = "int8"}),
                    "Layer ReLU does not have a `quantize` method implemented.");
  const auto unbuilt_model = Sequential::make({make<Layer>("Dense", {{"units", 2}})});
  CHECK_THROWS_WITH(quantize_model(*unbuilt_model, {.mode = "int8"}),
                    Contains("(of type 'Sequential') is not built yet"));
}
