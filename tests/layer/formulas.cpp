// Layers compared with formulas, where no numbers of Keras are recorded.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

Tensor call_layer(const char* name, const Dict& options, const Tensor& x, bool training = false) {
  const LayerPtr layer = make<Layer>(name, options);
  CallOptions call;
  call.training = training;
  return (*layer)(x, call);
}

Tensor numbers(const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.size(); ++i) values.push_back(std::sin(1.7 * double(i)));
  return Tensor::from(values, shape);
}

void check_near(const Tensor& got, const std::vector<double>& want) {
  const std::vector<double> values = got.to_vector();
  REQUIRE(values.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("element " << i);
    CHECK(values[i] == Approx(want[i]).epsilon(1e-5).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("adaptive pooling takes floor(i n / m) to ceil((i + 1) n / m)") {
  const Tensor x = numbers({1, 7, 1});
  const std::vector<double> v = x.to_vector();
  auto mean = [&](size_t first, size_t last) {
    double sum = 0;
    for (size_t i = first; i < last; ++i) sum += v[i];
    return sum / double(last - first);
  };
  auto largest = [&](size_t first, size_t last) {
    return *std::max_element(v.begin() + std::ptrdiff_t(first), v.begin() + std::ptrdiff_t(last));
  };
  const Dict three_outputs{{"output_size", 3}, {"dtype", "float64"}};
  check_near(call_layer("AdaptiveAveragePooling1D", three_outputs, x),
             {mean(0, 3), mean(2, 5), mean(4, 7)});
  check_near(call_layer("AdaptiveMaxPooling1D", three_outputs, x),
             {largest(0, 3), largest(2, 5), largest(4, 7)});
  const Dict one_output{{"output_size", 1}, {"dtype", "float64"}};
  check_near(call_layer("AdaptiveAveragePooling1D", one_output, x), {mean(0, 7)});
}

TEST_CASE("interpolation weighs the middles of cells") {
  const Tensor x = Tensor::from(std::vector<float>{0, 1, 4, 9}, {1, 1, 4, 1});
  const auto doubled_image = [&](const char* interpolation) {
    return call_layer("UpSampling2D", {{"size", List{1, 2}}, {"interpolation", interpolation}}, x);
  };
  check_near(doubled_image("nearest"), {0, 0, 1, 1, 4, 4, 9, 9});
  check_near(doubled_image("bilinear"), {0, 0.25, 0.75, 1.75, 3.25, 5.25, 7.75, 9});
  // The values of Keys' cubic kernel at distances of 1/4, 3/4, 5/4 and 7/4 pixels: 0.8671875,
  // 0.2265625, -0.0703125, -0.0234375. At the edges the weights inside are normalized to a sum of
  // 1.
  const double near_weight = 0.8671875, next_weight = 0.2265625, far_weight = -0.0703125,
               farther_weight = -0.0234375;
  const std::vector<double> cubic = doubled_image("bicubic").to_vector();
  CHECK(cubic[3] ==
        Approx(1 * near_weight + 4 * next_weight + 0 * far_weight + 9 * farther_weight));
  CHECK(cubic[0] ==
        Approx((0 * near_weight + 1 * far_weight) / (near_weight + far_weight + 0)).margin(1e-6));
  const Tensor constant_image = Tensor::from(std::vector<float>(12, 3), {1, 3, 4, 1});
  for (const char* name : {"bilinear", "bicubic", "lanczos3", "lanczos5"})
    check_near(call_layer("UpSampling2D", {{"interpolation", name}}, constant_image),
               std::vector<double>(48, 3));
}

TEST_CASE("margins can be given as in Keras, and are written as pairs") {
  auto option = [](const char* layer, const char* name, const Value& option_value) {
    return *make<Layer>(layer, {{name, option_value}})->get_config().find(name);
  };
  CHECK(option("ZeroPadding1D", "padding", 2) == Value(List{2, 2}));
  CHECK(option("ZeroPadding1D", "padding", List{1, 2}) == Value(List{1, 2}));
  CHECK(option("ZeroPadding2D", "padding", 3) == Value(List{List{3, 3}, List{3, 3}}));
  CHECK(option("ZeroPadding2D", "padding", List{1, 2}) == Value(List{List{1, 1}, List{2, 2}}));
  CHECK(option("Cropping3D", "cropping", List{1, List{0, 2}, 3}) ==
        Value(List{List{1, 1}, List{0, 2}, List{3, 3}}));
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(make<Layer>("ZeroPadding2D", {{"padding", List{1, 2, 3}}}),
                    Contains("`padding` should have 2 elements"));
  CHECK_THROWS_WITH(make<Layer>("Cropping1D", {{"cropping", -1}}), Contains("at least 0"));
  CHECK_THROWS_WITH(call_layer("Cropping1D", {{"cropping", 2}}, numbers({1, 4, 1})),
                    Contains("should be smaller than the corresponding spatial dimension"));
  check_near(call_layer("Cropping1D", {{"cropping", List{1, 0}}},
                        Tensor::from(std::vector<float>{1, 2, 3}, {1, 3, 1})),
             {2, 3});
}

TEST_CASE("batch renormalisation corrects towards its moving averages") {
  const LayerPtr layer =
      make<Layer>("BatchNormalization", {{"renorm", true},
                                         {"momentum", 0.9},
                                         {"renorm_momentum", 0.8},
                                         {"epsilon", 0.01},
                                         {"renorm_clipping", Dict{{"rmax", 1.5}, {"dmax", 0.2}}},
                                         {"dtype", "float64"}});
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 4, 9}, {4, 1});
  layer->build_for({x.shape()});
  layer->set_weights({Tensor::from(std::vector<double>{2}, {1}),      // gamma
                      Tensor::from(std::vector<double>{0.5}, {1}),    // beta
                      Tensor::from(std::vector<double>{0.3}, {1}),    // moving_mean
                      Tensor::from(std::vector<double>{1}, {1}),      // moving_variance
                      Tensor::from(std::vector<double>{1.1}, {1}),    // moving_stddev
                      Tensor::from(std::vector<double>{3.5}, {1}),    // renorm_mean
                      Tensor::from(std::vector<double>{2.5}, {1})});  // renorm_stddev
  CallOptions training;
  training.training = true;
  const Tensor y = (*layer)(x, training);
  const double mean = 4, deviation = std::sqrt(9.5 + 0.01), r = deviation / 2.5,
               d = std::min(0.2, (mean - 3.5) / 2.5);
  REQUIRE(r < 1.5);
  std::vector<double> want;
  for (double v : {1., 2., 4., 9.}) want.push_back(((v - mean) / deviation * r + d) * 2 + 0.5);
  check_near(y, want);
  const double renorm_mean = 3.5 * 0.8 + mean * 0.2, renorm_deviation = 2.5 * 0.8 + deviation * 0.2;
  const double moving_deviation = 1.1 * 0.9 + deviation * 0.1;
  const Tensors weights_after = layer->get_weights();
  check_near(weights_after[2], {0.3 * 0.9 + mean * 0.1});
  check_near(weights_after[3], {moving_deviation * moving_deviation - 0.01});
  check_near(weights_after[4], {moving_deviation});
  check_near(weights_after[5], {renorm_mean});
  check_near(weights_after[6], {renorm_deviation});
}

TEST_CASE("batch normalisation of Keras 2.3.1 trains by the whole batch, frozen or not") {
  const Tensor x = numbers({4, 3, 2});
  const auto trained = [&](const Dict& more_options, bool has_mask) {
    Dict options = more_options;
    options.set("dtype", "float64");
    const LayerPtr layer = make<Layer>("BatchNormalization", options);
    layer->build_for({x.shape()});
    CallOptions call;
    call.training = true;
    const Tensor steps =
        Tensor::from(std::vector<int32_t>{1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0}, {4, 3});
    const Tensor y = (*layer)(has_mask ? x.with_mask(ops::cast(steps, DType::boolean)) : x, call);
    return std::pair(y.to_vector(), layer->get_weights()[2].to_vector());
  };
  const auto [plain, mean] = trained({}, false);
  const auto [frozen, kept] = trained({{"trainable", false}, {"batch_when_frozen", true}}, false);
  CHECK(frozen == plain);
  CHECK(kept == std::vector<double>{0, 0});
  CHECK(mean != kept);
  CHECK(trained({{"trainable", false}}, false).first != plain);
  CHECK(trained({{"count_masked", true}}, true) == std::pair(plain, mean));
  CHECK(trained({}, true).first != plain);
}

TEST_CASE("a synchronized batch normalisation alone is a plain one") {
  const Tensor x = numbers({5, 3, 2});
  const Dict plain_options{{"dtype", "float64"}},
      synchronized_options{{"dtype", "float64"}, {"synchronized", true}};
  check_near(call_layer("BatchNormalization", synchronized_options, x, true),
             call_layer("BatchNormalization", plain_options, x, true).to_vector());
}

TEST_CASE("dropout of channels drops whole channels, alpha dropout keeps mean and variance") {
  const Tensor ones = Tensor::full({3, 4, 5, 6}, 1, DType::float32);
  const Tensor dropped_output =
      call_layer("SpatialDropout2D", {{"rate", 0.5}, {"seed", 3}}, ones, true);
  const Tensor range_in_channel =
      ops::max(dropped_output, {1, 2}) - ops::min(dropped_output, {1, 2});
  CHECK(ops::max(range_in_channel).item() == 0);
  const double dropped_share = ops::mean(ops::equal(dropped_output, 0)).item();
  CHECK(dropped_share > 0.1);
  CHECK(dropped_share < 0.9);
  const Tensor noise = SeedGenerator(5).normal({200, 500}, 0, 1);
  const Tensor dropped_noise =
      call_layer("AlphaDropout", {{"rate", 0.3}, {"seed", 3}}, noise, true);
  CHECK(ops::mean(dropped_noise).item() == Approx(0).margin(0.02));
  CHECK(ops::variance(dropped_noise).item() == Approx(1).margin(0.03));
}

TEST_CASE("stochastic depth drops whole samples and scales the others") {
  const Tensor ones = Tensor::full({64, 3, 2}, 1, DType::float32);
  const Dict options{{"drop_path_rate", 0.5}};
  const std::vector<double> values = call_layer("StochasticDepth", options, ones, true).to_vector();
  int dropped = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    CHECK((values[i] == 0 || values[i] == 2));
    CHECK(values[i] == values[i / 6 * 6]);
    dropped += values[i] == 0;
  }
  CHECK(dropped > 6 * 16);
  CHECK(dropped < 6 * 48);
  check_near(call_layer("StochasticDepth", options, ones), ones.to_vector());
  CHECK_THROWS_WITH(make<Layer>("StochasticDepth", {{"drop_path_rate", 1.0}}),
                    Catch::Matchers::Contains("below 1"));
}

TEST_CASE("scaling layers of applications") {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  check_near(call_layer("LayerScale", {{"init_values", 0.5}, {"projection_dim", 2}}, x),
             {0.5, 1, 1.5, 2});
  const LayerPtr scale_layer = make<Layer>("CustomScaleLayer", {{"scale", 0.1}});
  check_near((*scale_layer)(Tensors{x, x * 10}).front(), {2, 4, 6, 8});
}

TEST_CASE("normalising preprocessing learns mean and variance") {
  const LayerPtr layer = make<Layer>("Normalization");
  const Tensor data = Tensor::from(std::vector<float>{0, 7, 4, 2, 9, 6, 0, 7, 4, 2, 9, 6}, {4, 3});
  layer->call_method("adapt", {{"data", Value(std::make_shared<BoxedTensor>(data))}});
  check_near((*layer)(Tensor::from(std::vector<float>{0, 7, 4}, {1, 3})), {-1, -1, -1});
  CHECK_THROWS_WITH(make<Layer>("Normalization", {{"mean", 1}}),
                    Catch::Matchers::Contains("both `mean` and `variance` must be set"));
}

TEST_CASE("groups that do not fit the channels are refused in Keras' words") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(
      call_layer("GroupNormalization", {{"groups", 8}}, numbers({2, 4})),
      Contains("Number of groups (8) cannot be more than the number of channels (4)"));
  CHECK_THROWS_WITH(call_layer("GroupNormalization", {{"groups", 3}}, numbers({2, 4})),
                    Contains("The number of groups (3) must divide the number of channels"));
  CHECK_THROWS_WITH(
      call_layer("Conv1D", {{"filters", 4}, {"kernel_size", 1}, {"groups", 2}}, numbers({1, 2, 3})),
      Contains("The number of input channels must be evenly divisible"));
  CHECK_THROWS_WITH(
      make<Layer>("DepthwiseConv2D", {{"kernel_size", 3}, {"strides", 2}, {"dilation_rate", 2}}),
      Contains("`strides > 1` not supported in conjunction with `dilation_rate > 1`"));
}

TEST_CASE("an embedding in reverse uses its own table where weights are not tied") {
  const LayerPtr layer = make<Layer>(
      "ReversibleEmbedding",
      {{"input_dim", 3}, {"output_dim", 2}, {"tie_weights", false}, {"logit_soft_cap", 2}});
  const Tensor ids = Tensor::from(std::vector<int32_t>{2, 0}, {1, 2});
  layer->build_for({ids.shape()});
  layer->set_weights({Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}),
                      Tensor::from(std::vector<float>{1, 0, -1, 2, 1, 0}, {2, 3})});
  check_near((*layer)(ids), {5, 6, 1, 2});
  CallOptions reverse_options;
  reverse_options.arguments.set("reverse", true);
  const Tensor scores =
      (*layer)(Tensor::from(std::vector<float>{0.5, 0.25}, {1, 2}), reverse_options);
  auto capped_score = [](double score) { return 2 * std::tanh(score / 2); };
  check_near(scores, {capped_score(1), capped_score(0.25), capped_score(-0.5)});
}

TEST_CASE("layers over steps tell which steps of their output count") {
  // The first sequence has three of six steps, the second five.
  const Tensor mask = ops::cast(
      Tensor::from(std::vector<float>{1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0}, {2, 6}), DType::boolean);
  const Tensor x = ops::cast(numbers({2, 6, 2}), DType::float32).with_mask(mask);
  const auto mask_after = [&](const char* name, const Dict& options) {
    const Tensor y = call_layer(name, options, x);
    const Tensor y_mask = y.mask();
    return y_mask ? y_mask.to_vector() : std::vector<double>();
  };
  using Steps = std::vector<double>;
  const auto convolved = [&](const char* padding, int stride, int dilation) {
    return mask_after("Conv1D", {{"filters", 2},
                                 {"kernel_size", 2},
                                 {"padding", padding},
                                 {"strides", stride},
                                 {"dilation_rate", dilation}});
  };
  CHECK(convolved("valid", 1, 1) == Steps{1, 1, 0, 0, 0, 1, 1, 1, 1, 0});
  CHECK(convolved("valid", 1, 2) == Steps{1, 0, 0, 0, 1, 1, 1, 0});
  CHECK(convolved("valid", 2, 1) == Steps{1, 0, 0, 1, 1, 0});
  CHECK(convolved("same", 2, 1) == Steps{1, 1, 0, 1, 1, 1});
  CHECK(convolved("causal", 1, 1) == mask.to_vector());
  CHECK(mask_after("MaxPooling1D", {{"pool_size", 2}}) == Steps{1, 0, 0, 1, 1, 0});
  CHECK(mask_after("AveragePooling1D", {{"pool_size", 2}, {"padding", "same"}}) ==
        Steps{1, 1, 0, 1, 1, 1});
  CHECK(mask_after("ZeroPadding1D", {{"padding", List{1, 0}}}) ==
        Steps{0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0});
  CHECK(mask_after("Cropping1D", {{"cropping", List{2, 1}}}) == Steps{1, 0, 0, 1, 1, 1});
  CHECK(mask_after("UpSampling1D", {{"size", 2}}).size() == 24);
  CHECK(mask_after("Flatten", {}).empty());
  CHECK(mask_after("Reshape", {{"target_shape", List{12}}}).empty());
  CHECK(mask_after("Reshape", {{"target_shape", List{3, 4}}}) == Steps{1, 0, 0, 1, 1, 0});
  CHECK(mask_after("Reshape", {{"target_shape", List{12, 1}}}).size() == 24);
  CHECK(mask_after("Permute", {{"dims", List{1, 2}}}) == mask.to_vector());
  CHECK(mask_after("Permute", {{"dims", List{2, 1}}}).empty());
  CHECK(mask_after("DepthwiseConv1D", {{"kernel_size", 2}}) == convolved("valid", 1, 1));
  CHECK(mask_after("LocallyConnected1D", {{"filters", 1}, {"kernel_size", 2}, {"strides", 2}}) ==
        convolved("valid", 2, 1));
  CHECK(mask_after("Conv1D", {{"filters", 2}, {"kernel_size", 2}, {"carry_mask", false}}).empty());
  CHECK(mask_after("Conv1DTranspose", {{"filters", 2}, {"kernel_size", 2}}).empty());
  const Tensor fully_masked = x.with_mask(ops::zeros_like(mask));
  check_near(call_layer("GlobalAveragePooling1D", {}, fully_masked), {0, 0, 0, 0});
}

TEST_CASE("what Keras wrote loses masks where Keras does") {
  const ModelPtr model = model_from_json(R"({"class_name": "Sequential", "config": {"name": "s",
      "layers": [{"class_name": "Embedding", "config": {"name": "e", "trainable": true,
          "batch_input_shape": [null, 4], "dtype": "float32", "input_dim": 3, "output_dim": 2,
          "mask_zero": true}},
        {"class_name": "Conv1D", "config": {"name": "c", "trainable": true, "filters": 2,
          "kernel_size": [2], "strides": [1], "padding": "valid"}}]}, "keras_version": "2.3.1"})");
  CHECK(model->get_layer("c")->get_config().at("carry_mask") == Value(false));
  CHECK(model->to_json().find("carry_mask") == std::string::npos);
}

TEST_CASE("spectral normalisation divides the kernel by its largest singular value") {
  const LayerPtr dense = make<Layer>("Dense", {{"units", 2}, {"dtype", "float64"}});
  const LayerPtr layer = make<Layer>("SpectralNormalization",
                                     {{"layer", Value(std::static_pointer_cast<Object>(dense))},
                                      {"power_iterations", 40},
                                      {"dtype", "float64"}});
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3}, {1, 3});
  layer->build_for({x.shape()});
  const Tensor kernel = Tensor::from(std::vector<double>{1, 2, 0, 1, 3, -1}, {3, 2});
  dense->set_weights({kernel, Tensor::from(std::vector<double>{0.5, -0.5}, {2})});
  const Tensor output_before = (*layer)(x);
  check_near(output_before, {10.5, 0.5});
  const double norm = ops::max(ops::svd(kernel).s).item();
  CallOptions training;
  training.training = true;
  GradientTape tape;
  const Tensor y = (*layer)(x, training), total = ops::sum(y);
  tape.stop();
  check_near(y, {10 / norm + 0.5, 1 / norm - 0.5});
  check_near(dense->get_weights()[0], (kernel / norm).to_vector());
  // The gradients are with respect to the normalized kernel, which the call has stored in the
  // layer.
  const Variables weights = dense->trainable_weights();
  const Tensors gradients = tape.gradient(total, std::span<const Variable>(weights));
  check_near(gradients[0], {1, 1, 2, 2, 3, 3});
  dense->set_weights({ops::zeros_like(kernel), Tensor::from(std::vector<double>{1, 1}, {2})});
  check_near((*layer)(x, training), {1, 1});
  const LayerPtr layer_without_kernel = make<Layer>(
      "SpectralNormalization", {{"layer", Dict{{"class_name", "Flatten"}, {"config", Dict{}}}}});
  CHECK_THROWS_WITH((*layer_without_kernel)(x),
                    Catch::Matchers::Contains("Flatten object has no attribute 'kernel' nor"));
}

TEST_CASE("images are resized and cut out of the middle") {
  const Tensor row = Tensor::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {1, 1, 6, 1});
  const auto resized_image = [&](Dict options) {
    options.set("height", 1);
    return call_layer("Resizing", options, row).to_vector();
  };
  CHECK(resized_image({{"width", 4}, {"interpolation", "nearest"}}) ==
        std::vector<double>{0, 2, 3, 5});
  CHECK(resized_image({{"width", 3}}) == std::vector<double>{0.5, 2.5, 4.5});
  CHECK(resized_image({{"width", 2}, {"crop_to_aspect_ratio", true}}) == std::vector<double>{2, 3});
  check_near(call_layer("CenterCrop", {{"height", 1}, {"width", 2}}, row), {2, 3});
  check_near(call_layer("CenterCrop", {{"height", 1}, {"width", 2}},
                        Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 4, 1})),
             {2, 3});
  const Tensor padded_image = call_layer(
      "Resizing", {{"height", 2}, {"width", 2}, {"pad_to_aspect_ratio", true}, {"fill_value", 9}},
      Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 1, 4, 1}));
  // The values are interpolated between the rows above and below.
  check_near(padded_image, {7.125, 7.625, 7.125, 7.625});
  const Tensor bytes = ops::cast(
      ops::reshape(Tensor::from(std::vector<float>{0, 255, 255, 0, 3, 4}, {6}), {1, 1, 6, 1}),
      DType::uint8);
  const auto integer_result = [&](const char* name, Dict options, const Tensor& images) {
    options.set("height", 1);
    const Tensor result = call_layer(name, options, images);
    CHECK(result.dtype() == (options.find("interpolation") ? images.dtype() : DType::float32));
    return result.to_vector();
  };
  CHECK(integer_result("Resizing", {{"width", 3}, {"interpolation", "bilinear"}}, bytes) ==
        std::vector<double>{128, 128, 4});
  CHECK(integer_result("Resizing", {{"width", 12}, {"interpolation", "bicubic"}}, bytes)[3] == 255);
  CHECK(integer_result("CenterCrop", {{"width", 2}}, bytes) == std::vector<double>{255, 0});
  CHECK_THROWS_WITH(make<Layer>("Resizing", {{"height", 1},
                                             {"width", 1},
                                             {"crop_to_aspect_ratio", true},
                                             {"pad_to_aspect_ratio", true}}),
                    Catch::Matchers::Contains("Only one of `pad_to_aspect_ratio`"));
}

TEST_CASE("a scale stands in the configuration as it was given") {
  const auto saved_config_of = [](Dict options) {
    return make<Layer>("Rescaling", std::move(options))->get_config();
  };
  const Dict saved_config = saved_config_of({{"scale", List{1, 2.5}}, {"offset", -1}});
  CHECK(to_json(saved_config.at("scale")) == "[1, 2.5]");
  CHECK(to_json(saved_config.at("offset")) == "-1");
  CHECK(to_json(saved_config_of({{"scale", 0.5}}).at("offset")) == "0.0");
}

TEST_CASE("integers become vectors of zeros and ones, or of counts") {
  const Tensor ids = Tensor::from(std::vector<int32_t>{2, 0, 2}, {1, 3});
  const auto encoded = [&](const char* mode, const Tensor& x) {
    return call_layer("CategoryEncoding", {{"num_tokens", 3}, {"output_mode", mode}}, x);
  };
  check_near(encoded("multi_hot", ids), {1, 0, 1});
  check_near(encoded("count", ids), {1, 0, 2});
  CHECK(encoded("one_hot", ids).shape() == Shape{1, 3, 3});
  const Tensor single_values = Tensor::from(std::vector<int32_t>{2, 1}, {2, 1});
  CHECK(encoded("one_hot", single_values).shape() == Shape{2, 3});
  check_near(encoded("one_hot", single_values), {0, 0, 1, 0, 1, 0});
  CallOptions weight_options;
  weight_options.arguments.set(
      "count_weights",
      Value(std::make_shared<BoxedTensor>(Tensor::from(std::vector<float>{0.5, 2, 0.25}, {1, 3}))));
  const LayerPtr counting_layer =
      make<Layer>("CategoryEncoding", {{"num_tokens", 3}, {"output_mode", "count"}});
  check_near((*counting_layer)(ids, weight_options), {2, 0, 0.75});
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(encoded("count", Tensor::from(std::vector<int32_t>{3}, {1, 1})),
                    Contains("value 3 at [0, 0] is out of range for num_tokens 3"));
  CHECK_THROWS_WITH(make<Layer>("CategoryEncoding"), Contains("num_tokens must be set"));
}
