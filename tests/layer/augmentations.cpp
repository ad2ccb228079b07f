// Layers that move, mix and erase parts of images at random, compared with formulas: where both
// bounds of a random range are equal, the random number is known.
#include <set>

#include "augmented_images.h"

namespace crescent::test {
namespace {

/// Bilinear interpolation between the pixels around (y, x); `inside` maps positions beyond the
/// edges into the image.
double interpolated(int n, double y, double x, int c,
                    const std::function<double(int, int, int, int)>& inside) {
  const int row = int(std::floor(y)), column = int(std::floor(x));
  const double row_fraction = y - row, column_fraction = x - column;
  return inside(n, row, column, c) * (1 - row_fraction) * (1 - column_fraction) +
         inside(n, row, column + 1, c) * (1 - row_fraction) * column_fraction +
         inside(n, row + 1, column, c) * row_fraction * (1 - column_fraction) +
         inside(n, row + 1, column + 1, c) * row_fraction * column_fraction;
}
double reflecting(int n, int y, int x, int c) {
  return value(n, reflected(y, kHeight), reflected(x, kWidth), c);
}

}  // namespace

TEST_CASE("translations show what is a share of the size away") {
  check("RandomTranslation", {{"height_factor", pair_of(0.3)}, {"width_factor", pair_of(-0.25)}},
        [](int n, int y, int x, int c) {
          return interpolated(n, y - 0.3 * kHeight, x + 0.25 * kWidth, c, reflecting);
        });
  const auto filled_pixel = [](int n, int y, int x, int c) {
    return y < 0 || x < 0 || y >= kHeight || x >= kWidth ? 7 : value(n, y, x, c);
  };
  check("RandomTranslation",
        {{"height_factor", pair_of(0.5)},
         {"width_factor", pair_of(0.2)},
         {"fill_mode", "constant"},
         {"fill_value", 7}},
        [&](int n, int y, int x, int c) { return filled_pixel(n, y - 2, x - 1, c); });
  check("RandomTranslation",
        {{"height_factor", pair_of(0.5)}, {"width_factor", pair_of(-0.6)}, {"fill_mode", "wrap"}},
        [](int n, int y, int x, int c) {
          return value(n, (y + kHeight - 2) % kHeight, (x + 3) % kWidth, c);
        });
  check("RandomTranslation",
        {{"height_factor", pair_of(0.5)},
         {"width_factor", pair_of(0)},
         {"fill_mode", "nearest"},
         {"interpolation", "nearest"}},
        [](int n, int y, int x, int c) { return value(n, std::max(y - 2, 0), x, c); });
}

TEST_CASE("rotations, zooms and shears are around their middle or their corner") {
  const double angle = 2 * M_PI * 0.1, cx = (kWidth - 1) / 2.0, cy = (kHeight - 1) / 2.0;
  check("RandomRotation", {{"factor", pair_of(0.1)}}, [&](int n, int y, int x, int c) {
    const double offset_x = x - cx, offset_y = y - cy;
    return interpolated(n, cy + std::sin(angle) * offset_x + std::cos(angle) * offset_y,
                        cx + std::cos(angle) * offset_x - std::sin(angle) * offset_y, c,
                        reflecting);
  });
  check("RandomZoom", {{"height_factor", pair_of(0.3)}, {"width_factor", pair_of(-0.4)}},
        [&](int n, int y, int x, int c) {
          return interpolated(n, cy + 1.3 * (y - cy), cx + 0.6 * (x - cx), c, reflecting);
        });
  check("RandomZoom", {{"height_factor", pair_of(0.3)}}, [&](int n, int y, int x, int c) {
    return interpolated(n, cy + 1.3 * (y - cy), cx + 1.3 * (x - cx), c, reflecting);
  });
  const auto sheared_pixel = [](double side) {
    return [side](int n, int y, int x, int c) {
      return interpolated(n, y + side * 0.1 * x, x + side * 0.2 * y, c, reflecting);
    };
  };
  // The direction is random for each image.
  const Dict shear{{"x_factor", pair_of(0.2)}, {"y_factor", pair_of(0.1)}, {"seed", 1}};
  const std::vector<double> got =
      outputs_in_training("RandomShear", shear, images())[0].to_vector();
  const size_t image_size = got.size() / kBatch;
  for (int n = 0; n < kBatch; ++n) {
    const size_t last = size_t(n) * image_size + image_size - 1;
    const double sheared_left = sheared_pixel(-1)(n, kHeight - 1, kWidth - 1, kChannels - 1),
                 sheared_right = sheared_pixel(1)(n, kHeight - 1, kWidth - 1, kChannels - 1);
    CHECK((got[last] == Approx(sheared_left) || got[last] == Approx(sheared_right)));
    for (int c = 0; c < kChannels; ++c)
      CHECK(got[size_t(n) * image_size + size_t(c)] == Approx(value(n, 0, 0, c)));
  }
}

TEST_CASE("flips mirror an image or leave it") {
  const auto flipped_pixel = [](const char* mode, bool flips_rows, bool flips_columns) {
    const std::vector<double> got =
        outputs_in_training("RandomFlip", {{"mode", mode}, {"seed", 4}}, images())[0].to_vector();
    size_t i = 0;
    for (int n = 0; n < kBatch; ++n) {
      int same_count = 0, mirrored_count = 0;
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
          for (int c = 0; c < kChannels; ++c, ++i) {
            const int row = flips_rows ? kHeight - 1 - y : y,
                      column = flips_columns ? kWidth - 1 - x : x;
            same_count += got[i] == value(n, y, x, c);
            mirrored_count += got[i] == value(n, row, column, c);
          }
      CHECK(std::max(same_count, mirrored_count) == kHeight * kWidth * kChannels);
    }
  };
  flipped_pixel("horizontal", false, true);
  flipped_pixel("vertical", true, false);
  flipped_pixel("horizontal_and_vertical", true, true);
  const Tensor many_images =
      ops::broadcast_to(ops::reshape(ops::arange(6, DType::float32), {1, 2, 3, 1}), {400, 2, 3, 1});
  const Tensor first = ops::slice(outputs_in_training("RandomFlip", {{"seed", 1}}, many_images)[0],
                                  {0, 0, 0, 0}, {400, 1, 1, 1});
  CHECK(ops::mean(first).item() / 5 == Approx(0.5).margin(0.1));
}

TEST_CASE("crops are parts of images") {
  std::set<double> distinct_crops;
  for (int64_t seed = 0; seed < 40; ++seed) {
    const Tensor crop = outputs_in_training(
        "RandomCrop", {{"height", 2}, {"width", 3}, {"seed", seed}}, images())[0];
    REQUIRE(crop.shape() == Shape{kBatch, 2, 3, kChannels});
    const std::vector<double> got = crop.to_vector();
    bool is_crop = false;
    for (int top = 0; top <= kHeight - 2; ++top)
      for (int left = 0; left <= kWidth - 3; ++left) {
        bool is_same = true;
        size_t i = 0;
        for (int n = 0; n < kBatch; ++n)
          for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 3; ++x)
              for (int c = 0; c < kChannels; ++c, ++i)
                is_same = is_same && got[i] == value(n, top + y, left + x, c);
        if (is_same) is_crop = true, distinct_crops.insert(10 * top + left);
      }
    CHECK(is_crop);
  }
  CHECK(distinct_crops.size() == 9);
}

TEST_CASE("erased rectangles") {
  const Dict options{
      {"factor", pair_of(1)}, {"scale", pair_of(0.25)}, {"fill_value", 300}, {"seed", 2}};
  const Tensor x = Tensor::full({50, 8, 12, 2}, 100);
  const Tensor erased = outputs_in_training("RandomErasing", options, x)[0];
  // Half of the height and of the width is erased, with values in the given range.
  const Tensor erased_area = ops::cast(ops::equal(erased, 255), DType::float32);
  CHECK(ops::max(ops::abs(ops::sum(erased_area, {1, 2, 3}) - 4.0 * 6 * 2)).item() == 0);
  CHECK(ops::min(erased).item() == 100);
  const Tensor noise_images =
      outputs_in_training("RandomErasing", {{"factor", pair_of(1)}, {"seed", 2}}, x)[0];
  CHECK(ops::min(noise_images).item() == 0);
  CHECK(ops::max(noise_images).item() == 255);
}

TEST_CASE("mixtures are of two images, and of their labels by the same shares") {
  constexpr int64_t kCount = 64;
  // All pixels of image number i have the value i.
  const Tensor x = ops::broadcast_to(
      ops::reshape(ops::arange(kCount, DType::float32), {kCount, 1, 1, 1}), {kCount, 10, 10, 1});
  const Tensor labels = ops::eye(kCount, kCount);
  const Dict with_labels{{"labels", Codec<Tensor>::encode(labels)}};
  const Tensor numbers = ops::reshape(ops::arange(kCount, DType::float32), {kCount, 1});
  for (const char* name : {"MixUp", "CutMix"}) {
    const Tensors mixed_outputs = outputs_in_training(name, {{"seed", 3}}, x, with_labels);
    REQUIRE(mixed_outputs.size() == 2);
    CHECK(ops::max(ops::abs(ops::sum(mixed_outputs[1], {1}) - 1.0)).item() < 1e-5);
    // The mixed label must equal the mean of the mixed image: exactly for MixUp, up to whole pixels
    // for CutMix.
    const Tensor label_means = ops::squeeze(ops::matmul(mixed_outputs[1], numbers), 1);
    const Tensor differences = ops::abs(ops::mean(mixed_outputs[0], {1, 2, 3}) - label_means);
    CHECK(ops::max(differences).item() < (std::string(name) == "MixUp" ? 1e-3 : 14.0));
    CHECK(ops::mean(differences).item() < (std::string(name) == "MixUp" ? 1e-4 : 2.0));
  }
  CHECK_THROWS_WITH(
      outputs_in_training("MixUp", {}, x, {{"labels", Codec<Tensor>::encode(ops::arange(kCount))}}),
      Catch::Matchers::Contains("(batch, classes)"));
  // Mixing ratios from Beta(a, a): mean 1/2, variance 1 / (4 (2 a + 1)).
  for (const double alpha : {0.2, 1.0, 3.0}) {
    const Tensor labels = ops::eye(1000, 1000);
    const Tensors result =
        outputs_in_training("MixUp", {{"alpha", alpha}, {"seed", 1}}, ops::zeros({1000, 1, 1, 1}),
                            {{"labels", Codec<Tensor>::encode(labels)}});
    const Tensor shares = ops::sum(result[1] * labels, {1});
    CHECK(ops::mean(shares).item() == Approx(0.5).margin(0.04));
    CHECK(ops::variance(shares).item() == Approx(1 / (4 * (2 * alpha + 1))).epsilon(0.15));
  }
}

TEST_CASE("masks are changed as their images are") {
  const Tensor x = images();
  const Tensor mask = ops::cast(ops::greater(x, 120), DType::int32);
  const Dict with_mask{{"segmentation_masks", Codec<Tensor>::encode(mask)}};
  const Value nearest = "nearest";
  const std::pair<const char*, Dict> cases[] = {
      {"RandomFlip", {}},
      {"RandomCrop", {{"height", 2}, {"width", 2}}},
      {"RandomTranslation",
       {{"height_factor", 0.5}, {"width_factor", 0.5}, {"interpolation", nearest}}},
      {"RandomRotation", {{"factor", 0.4}, {"interpolation", nearest}}},
      {"RandomZoom", {{"height_factor", 0.4}, {"interpolation", nearest}}},
      {"RandomShear", {{"x_factor", 0.5}, {"interpolation", nearest}}},
      {"RandomPerspective", {{"factor", pair_of(1)}, {"interpolation", nearest}}},
      {"RandomElasticTransform", {{"factor", pair_of(1)}, {"interpolation", nearest}}},
      {"CutMix", {}}};
  for (auto [name, options] : cases) {
    INFO(name);
    options.set("seed", 6);
    const Tensors changed_outputs = outputs_in_training(name, options, x, with_mask);
    REQUIRE(changed_outputs.size() == 2);
    CHECK(changed_outputs[1].dtype() == DType::int32);
    CHECK(ops::cast(ops::greater(changed_outputs[0], 120), DType::int32).to_vector() ==
          changed_outputs[1].to_vector());
  }
  const Tensors brighter_outputs =
      outputs_in_training("RandomBrightness", {{"factor", pair_of(0.2)}}, x, with_mask);
  CHECK(brighter_outputs[1].to_vector() == mask.to_vector());
}

TEST_CASE("what is not training leaves images as they are, and calls by themselves train") {
  const Tensor x = images();
  CallOptions inference_options;
  inference_options.training = false;
  for (const LayerPtr& layer :
       {make<Layer>("RandomInvert", {{"factor", pair_of(1)}}),
        make<Layer>("Pipeline",
                    {{"layers", List{Dict{{"class_name", "RandomInvert"},
                                          {"config", Dict{{"factor", pair_of(1)}}}}}}})}) {
    CHECK((*layer)(x, inference_options).to_vector() == x.to_vector());
    CHECK((*layer)(x).to_vector() == (255.0 - x).to_vector());
    // The layer in a model that is called without `training`, as predict does.
    InputOptions input_options;
    input_options.shape = Shape{kHeight, kWidth, kChannels};
    const Symbol input = Input(input_options);
    const auto model = Functional::make({input}, {(*layer)(input)});
    CHECK(model->predict({x})[0].to_vector() == x.to_vector());
  }
  const Tensor large_images = Tensor::full({2, 9, 7, 3}, 5);
  CHECK((*make<Layer>("RandomCrop", {{"height", 4}, {"width", 3}}))(large_images, inference_options)
            .shape() == Shape{2, 4, 3, 3});
}

TEST_CASE("combinations draw anew for every batch") {
  const Tensor x = ops::cast(images(), DType::uint8);
  for (const char* name : {"RandAugment", "AugMix"}) {
    INFO(name);
    const LayerPtr layer = make<Layer>(name, {{"seed", 1}});
    std::set<std::vector<double>> results;
    const Function compiled([&](const Tensors& inputs) {
      CallOptions training_options;
      training_options.training = true;
      return (*layer)(inputs, training_options);
    });
    for (int i = 0; i < 8; ++i) {
      const Tensor result = compiled({x})[0];
      CHECK(ops::min(result).item() >= 0);
      CHECK(ops::max(result).item() <= 255);
      results.insert(result.to_vector());
    }
    CHECK(results.size() > 5);
  }
}

TEST_CASE("options of augmentations that cannot be are refused in Keras' words") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(make<Layer>("RandomBrightness", {{"factor", 2}}),
                    Contains("The `factor` argument should be a number (or a list of two numbers) "
                             "in the range [-1, 1]. Received: factor=2"));
  CHECK_THROWS_WITH(make<Layer>("RandomZoom", {{"height_factor", -1}}), Contains("(-1, 1]"));
  CHECK_THROWS_WITH(make<Layer>("RandomHue", {{"factor", List{0.1, 0.2, 0.3}}}),
                    Contains("[0, 1]"));
  CHECK_THROWS_WITH(make<Layer>("RandomContrast", {{"factor", "much"}}), Contains("factor"));
  CHECK_THROWS_WITH(
      make<Layer>("RandomBrightness", {{"factor", 0.1}, {"value_range", List{1, 2, 3}}}),
      Contains("value_range"));
  CHECK_THROWS_WITH(make<Layer>("AutoContrast", {{"value_range", pair_of(3)}}), Contains("differ"));
  CHECK_THROWS_WITH(make<Layer>("MixUp", {{"alpha", 0}}), Contains("alpha"));
  CHECK_THROWS_WITH(make<Layer>("RandomGaussianBlur", {{"kernel_size", 4}}),
                    Contains("must be an odd number"));
  CHECK_THROWS_WITH(make<Layer>("RandomErasing", {{"fill_value", List{1, 2}}}),
                    Contains("three numbers"));
  CHECK_THROWS_WITH(make<Layer>("RandomShear", {{"x_factor", -0.1}}), Contains("[0, 1]"));
  // The form in which Keras writes a shear of 0.2.
  CHECK(
      *make<Layer>("RandomShear", {{"x_factor", List{-0.2, 0.2}}})->get_config().find("x_factor") ==
      Value(0.2));
  CHECK_THROWS_WITH(
      (*make<Layer>("RandomHue", {{"factor", 0.1}}))(Tensor({2, 4, 4, 1}, DType::float32)),
      Contains("three channels"));
  CHECK_THROWS_WITH((*make<Layer>("RandomFlip"))(Tensor({4, 4}, DType::float32)),
                    Contains("min_ndim=3"));
}

}  // namespace crescent::test
