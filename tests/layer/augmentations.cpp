// Layers that change images at random, against their formulas, written out: where two bounds are
// equal, the number that is drawn is known.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

/// A value of images as (image, row, column, channel); the shape of all here.
using At = std::function<double(int, int, int, int)>;
constexpr int kBatch = 2, kHeight = 4, kWidth = 5, kChannels = 3;

double value(int n, int y, int x, int c) {
  return std::round(127 + 120 * std::sin(1.3 * n + 0.7 * y + 1.9 * x + 2.3 * c));
}

Tensor images() {
  std::vector<float> values;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c) values.push_back(float(value(n, y, x, c)));
  return Tensor::from(values, {kBatch, kHeight, kWidth, kChannels});
}

Tensors trained(const char* name, const Dict& options, const Tensor& x,
                const Dict& arguments = {}) {
  const LayerPtr layer = make<Layer>(name, options);
  CallOptions call;
  call.arguments = arguments;
  return (*layer)(Tensors{x}, call);
}

void check(const char* name, const Dict& options, const At& formula) {
  const std::vector<double> got = trained(name, options, images())[0].to_vector();
  REQUIRE(got.size() == size_t(kBatch * kHeight * kWidth * kChannels));
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i) {
          INFO(name << " image " << n << " row " << y << " column " << x << " channel " << c);
          CHECK(got[i] == Approx(formula(n, y, x, c)).epsilon(1e-4).margin(2e-3));
        }
}

Value both(double number) { return List{number, number}; }

double clipped(double x, double low = 0, double high = 255) { return std::clamp(x, low, high); }

/// Mirrored beyond the edges, the last element twice.
int reflected(int i, int size) {
  const int at = ((i % (2 * size)) + 2 * size) % (2 * size);
  return at < size ? at : 2 * size - 1 - at;
}

/// Between pixels, as `inside` finds those that are beyond the edges.
double between(int n, double y, double x, int c,
               const std::function<double(int, int, int, int)>& inside) {
  const int row = int(std::floor(y)), column = int(std::floor(x));
  const double down = y - row, right = x - column;
  return inside(n, row, column, c) * (1 - down) * (1 - right) +
         inside(n, row, column + 1, c) * (1 - down) * right +
         inside(n, row + 1, column, c) * down * (1 - right) +
         inside(n, row + 1, column + 1, c) * down * right;
}
double reflecting(int n, int y, int x, int c) {
  return value(n, reflected(y, kHeight), reflected(x, kWidth), c);
}

}  // namespace

TEST_CASE("translations show what is a share of the size away") {
  check("RandomTranslation", {{"height_factor", both(0.3)}, {"width_factor", both(-0.25)}},
        [](int n, int y, int x, int c) {
          return between(n, y - 0.3 * kHeight, x + 0.25 * kWidth, c, reflecting);
        });
  const auto filled = [](int n, int y, int x, int c) {
    return y < 0 || x < 0 || y >= kHeight || x >= kWidth ? 7 : value(n, y, x, c);
  };
  check("RandomTranslation",
        {{"height_factor", both(0.5)},
         {"width_factor", both(0.2)},
         {"fill_mode", "constant"},
         {"fill_value", 7}},
        [&](int n, int y, int x, int c) { return filled(n, y - 2, x - 1, c); });
  check("RandomTranslation",
        {{"height_factor", both(0.5)}, {"width_factor", both(-0.6)}, {"fill_mode", "wrap"}},
        [](int n, int y, int x, int c) {
          return value(n, (y + kHeight - 2) % kHeight, (x + 3) % kWidth, c);
        });
  check("RandomTranslation",
        {{"height_factor", both(0.5)},
         {"width_factor", both(0)},
         {"fill_mode", "nearest"},
         {"interpolation", "nearest"}},
        [](int n, int y, int x, int c) { return value(n, std::max(y - 2, 0), x, c); });
}

TEST_CASE("rotations, zooms and shears are around their middle or their corner") {
  const double angle = 2 * M_PI * 0.1, cx = (kWidth - 1) / 2.0, cy = (kHeight - 1) / 2.0;
  check("RandomRotation", {{"factor", both(0.1)}}, [&](int n, int y, int x, int c) {
    const double right = x - cx, down = y - cy;
    return between(n, cy + std::sin(angle) * right + std::cos(angle) * down,
                   cx + std::cos(angle) * right - std::sin(angle) * down, c, reflecting);
  });
  check("RandomZoom", {{"height_factor", both(0.3)}, {"width_factor", both(-0.4)}},
        [&](int n, int y, int x, int c) {
          return between(n, cy + 1.3 * (y - cy), cx + 0.6 * (x - cx), c, reflecting);
        });
  check("RandomZoom", {{"height_factor", both(0.3)}}, [&](int n, int y, int x, int c) {
    return between(n, cy + 1.3 * (y - cy), cx + 1.3 * (x - cx), c, reflecting);
  });
  const auto slanted = [](double side) {
    return [side](int n, int y, int x, int c) {
      return between(n, y + side * 0.1 * x, x + side * 0.2 * y, c, reflecting);
    };
  };
  // Each image goes to either side.
  const Dict shear{{"x_factor", both(0.2)}, {"y_factor", both(0.1)}, {"seed", 1}};
  const std::vector<double> got = trained("RandomShear", shear, images())[0].to_vector();
  const size_t each = got.size() / kBatch;
  for (int n = 0; n < kBatch; ++n) {
    const size_t last = size_t(n) * each + each - 1;
    const double left = slanted(-1)(n, kHeight - 1, kWidth - 1, kChannels - 1),
                 right = slanted(1)(n, kHeight - 1, kWidth - 1, kChannels - 1);
    CHECK((got[last] == Approx(left) || got[last] == Approx(right)));
    for (int c = 0; c < kChannels; ++c)
      CHECK(got[size_t(n) * each + size_t(c)] == Approx(value(n, 0, 0, c)));
  }
}

TEST_CASE("flips mirror an image or leave it") {
  const auto flipped = [](const char* mode, bool down, bool across) {
    const std::vector<double> got =
        trained("RandomFlip", {{"mode", mode}, {"seed", 4}}, images())[0].to_vector();
    size_t i = 0;
    for (int n = 0; n < kBatch; ++n) {
      int kept = 0, mirrored = 0;
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
          for (int c = 0; c < kChannels; ++c, ++i) {
            const int row = down ? kHeight - 1 - y : y, column = across ? kWidth - 1 - x : x;
            kept += got[i] == value(n, y, x, c);
            mirrored += got[i] == value(n, row, column, c);
          }
      CHECK(std::max(kept, mirrored) == kHeight * kWidth * kChannels);
    }
  };
  flipped("horizontal", false, true);
  flipped("vertical", true, false);
  flipped("horizontal_and_vertical", true, true);
  const Tensor many =
      ops::broadcast_to(ops::reshape(ops::arange(6, DType::float32), {1, 2, 3, 1}), {400, 2, 3, 1});
  const Tensor first =
      ops::slice(trained("RandomFlip", {{"seed", 1}}, many)[0], {0, 0, 0, 0}, {400, 1, 1, 1});
  CHECK(ops::mean(first).item() / 5 == Approx(0.5).margin(0.1));
}

TEST_CASE("crops are parts of images") {
  std::set<double> places;
  for (int64_t seed = 0; seed < 40; ++seed) {
    const Tensor crop =
        trained("RandomCrop", {{"height", 2}, {"width", 3}, {"seed", seed}}, images())[0];
    REQUIRE(crop.shape() == Shape{kBatch, 2, 3, kChannels});
    const std::vector<double> got = crop.to_vector();
    bool found = false;
    for (int top = 0; top <= kHeight - 2; ++top)
      for (int left = 0; left <= kWidth - 3; ++left) {
        bool same = true;
        size_t i = 0;
        for (int n = 0; n < kBatch; ++n)
          for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 3; ++x)
              for (int c = 0; c < kChannels; ++c, ++i)
                same = same && got[i] == value(n, top + y, left + x, c);
        if (same) found = true, places.insert(10 * top + left);
      }
    CHECK(found);
  }
  CHECK(places.size() == 9);
}

TEST_CASE("brightness, contrast and their kin") {
  check("RandomBrightness", {{"factor", both(0.2)}},
        [](int n, int y, int x, int c) { return clipped(value(n, y, x, c) + 0.2 * 255); });
  check("RandomBrightness", {{"factor", both(-0.3)}, {"value_range", List{10, 200}}},
        [](int n, int y, int x, int c) { return clipped(value(n, y, x, c) - 0.3 * 190, 10, 200); });
  const auto mean = [](int n, int c) {
    double sum = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) sum += value(n, y, x, c);
    return sum / (kHeight * kWidth);
  };
  // From 1 - 0 to 1 + 0.
  check("RandomContrast", {{"factor", both(0)}}, value);
  check("RandomContrast", {{"factor", List{-0.4, 0.4}}}, [&](int n, int y, int x, int c) {
    return clipped((value(n, y, x, c) - mean(n, c)) * 1.4 + mean(n, c));
  });
  const auto grey = [](int n, int y, int x) {
    return 0.2989 * value(n, y, x, 0) + 0.5870 * value(n, y, x, 1) + 0.1140 * value(n, y, x, 2);
  };
  check("RandomColorDegeneration", {{"factor", both(0.6)}}, [&](int n, int y, int x, int c) {
    return clipped(value(n, y, x, c) + 0.6 * (grey(n, y, x) - value(n, y, x, c)));
  });
  check("RandomGrayscale", {{"factor", 1}},
        [&](int n, int y, int x, int) { return grey(n, y, x); });
  check("RandomGrayscale", {{"factor", 0}}, value);
  check("RandomInvert", {{"factor", both(1)}},
        [](int n, int y, int x, int c) { return 255 - value(n, y, x, c); });
  check("RandomInvert", {{"factor", both(0)}}, value);
  check("RandomSaturation", {{"factor", both(0.3)}}, [](int n, int y, int x, int c) {
    const double most = std::max({value(n, y, x, 0), value(n, y, x, 1), value(n, y, x, 2)});
    // A saturation of s times as much moves every channel towards the largest.
    return most - (most - value(n, y, x, c)) * (0.3 / 0.7);
  });
  check("RandomHue", {{"factor", both(0)}}, value);
  // A third of a turn gives each channel the value of the one before or after it.
  const std::vector<double> turned =
      trained("RandomHue", {{"factor", both(2.0 / 3)}, {"seed", 5}}, images())[0].to_vector();
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n) {
    const bool forwards = std::abs(turned[i] - value(n, 0, 0, 2)) < 0.1;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i)
          CHECK(turned[i] ==
                Approx(value(n, y, x, (c + (forwards ? 2 : 1)) % kChannels)).margin(0.02));
  }
  check("RandomColorJitter",
        {{"brightness_factor", both(0.1)}, {"contrast_factor", List{-0.4, 0.4}}},
        [&](int n, int y, int x, int c) {
          double bright = 0;
          for (int row = 0; row < kHeight; ++row)
            for (int column = 0; column < kWidth; ++column)
              bright += clipped(value(n, row, column, c) + 25.5) / (kHeight * kWidth);
          return clipped((clipped(value(n, y, x, c) + 25.5) - bright) * 1.4 + bright);
        });
}

TEST_CASE("filters weigh neighbours") {
  const auto around = [](int n, int y, int x, int c,
                         const std::function<double(int, int)>& weight) {
    double sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (y + dy >= 0 && y + dy < kHeight && x + dx >= 0 && x + dx < kWidth)
          sum += weight(dy, dx) * value(n, y + dy, x + dx, c);
    return sum;
  };
  for (const double factor : {0.0, 0.5, 0.9})
    check("RandomSharpness", {{"factor", both(factor)}}, [&](int n, int y, int x, int c) {
      const double smooth = around(
          n, y, x, c, [](int dy, int dx) { return dy == 0 && dx == 0 ? 5.0 / 13 : 1.0 / 13; });
      return clipped(value(n, y, x, c) + (1 - 2 * factor) * (smooth - value(n, y, x, c)));
    });
  const auto bell = [](int d, double sigma) {
    const double side = std::exp(-0.5 / (sigma * sigma));
    return (d == 0 ? 1 : side) / (1 + 2 * side);
  };
  check("RandomGaussianBlur", {{"factor", both(1)}, {"sigma", both(0.8)}},
        [&](int n, int y, int x, int c) {
          return around(n, y, x, c, [&](int dy, int dx) { return bell(dy, 0.8) * bell(dx, 0.8); });
        });
  check("RandomGaussianBlur", {{"factor", both(0)}}, value);
}

TEST_CASE("tones are cut, inverted and stretched") {
  check("RandomPosterization", {{"factor", both(3)}},
        [](int n, int y, int x, int c) { return double(int(value(n, y, x, c)) >> 5 << 5); });
  check("Solarization", {{"addition_factor", 0}, {"threshold_factor", 0}},
        [](int n, int y, int x, int c) { return 255 - value(n, y, x, c); });
  // Below a threshold of each image, somewhere from 1 to 255, values stay.
  const std::vector<double> solarized =
      trained("Solarization", {{"threshold_factor", both(1)}, {"seed", 2}}, images())[0]
          .to_vector();
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n) {
    double kept = 0, inverted = 255;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i) {
          const double v = value(n, y, x, c);
          const bool stays = std::abs(solarized[i] - v) < 1e-3;
          if (!stays) CHECK(solarized[i] == Approx(255 - v).margin(1e-3));
          (stays ? kept : inverted) = stays ? std::max(kept, v) : std::min(inverted, v);
        }
    CHECK(kept < inverted);
  }
  check("AutoContrast", {}, [](int n, int y, int x, int c) {
    double low = 255, high = 0;
    for (int row = 0; row < kHeight; ++row)
      for (int column = 0; column < kWidth; ++column) {
        low = std::min(low, value(n, row, column, c));
        high = std::max(high, value(n, row, column, c));
      }
    return (value(n, y, x, c) - low) * 255 / (high - low);
  });
  const Tensor flat = Tensor::full({1, 2, 2, 1}, 9);
  CHECK(trained("AutoContrast", {}, flat)[0].to_vector() == flat.to_vector());
}

TEST_CASE("levelled histograms") {
  const auto level = [](int n, int y, int x, int c) {
    std::vector<int> counts(256, 0);
    for (int image = 0; image < kBatch; ++image)
      for (int row = 0; row < kHeight; ++row)
        for (int column = 0; column < kWidth; ++column)
          ++counts[size_t(value(image, row, column, c))];
    int first = 0, below = 0;
    for (int v = 255; v >= 0; --v)
      if (counts[size_t(v)]) first = counts[size_t(v)];
    for (int v = 0; v <= int(value(n, y, x, c)); ++v) below += counts[size_t(v)];
    return std::round((below - first) * 255.0 / (kBatch * kHeight * kWidth - first));
  };
  // Keras looks some values up one bin lower, for products that are rounded down.
  const std::vector<double> got = trained("Equalization", {}, images())[0].to_vector();
  size_t i = 0, same = 0;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i) same += got[i] == level(n, y, x, c);
  CHECK(same > got.size() * 9 / 10);
  const Tensor flat = Tensor::full({1, 2, 2, 1}, 9);
  CHECK(trained("Equalization", {}, flat)[0].to_vector() == flat.to_vector());
}

TEST_CASE("local histograms are levelled, cut off and blended") {
  // One tile for the image: its table alone, cut at the limit.
  const double limit = 1.5, pixels = kHeight * kWidth;
  check("ContrastLimitedAdaptiveHistogramEqualization",
        {{"tile_grid_size", List{1, 1}}, {"clip_limit", limit}}, [&](int n, int y, int x, int c) {
          std::vector<double> counts(256, 0);
          for (int row = 0; row < kHeight; ++row)
            for (int column = 0; column < kWidth; ++column)
              counts[size_t(value(n, row, column, c))] += 1;
          double excess = 0;
          for (double& count : counts) {
            const double cut = std::min(count, limit * pixels / 256);
            excess += count - cut;
            count = cut;
          }
          double sum = 0;
          for (int v = 0; v <= int(value(n, y, x, c)); ++v) sum += counts[size_t(v)] + excess / 256;
          const double least = counts[0] + excess / 256;
          return clipped((sum - least) * 255 / (pixels - least));
        });
  // Two tiles in a row, (rows x 1) of two pixels that differ: between their middles a mean.
  const Tensor row = Tensor::from(std::vector<float>{0, 100, 100, 200}, {1, 1, 4, 1});
  const std::vector<double> got =
      trained("ContrastLimitedAdaptiveHistogramEqualization",
              {{"tile_grid_size", List{1, 2}}, {"clip_limit", 0}}, row)[0]
          .to_vector();
  // tables of the left tile {0: 0, 100: 255}, of the right one {below 100: 0, 100: 255, 200: 255
  // with two counts}: places are -1/2, 0, 1/2 and 1 tiles from the first middle.
  CHECK(got[0] == Approx(0).margin(1e-3));
  CHECK(got[1] == Approx(255));
  CHECK(got[3] == Approx(255));
}

TEST_CASE("erased rectangles") {
  const Dict options{{"factor", both(1)}, {"scale", both(0.25)}, {"fill_value", 300}, {"seed", 2}};
  const Tensor x = Tensor::full({50, 8, 12, 2}, 100);
  const Tensor erased = trained("RandomErasing", options, x)[0];
  // Half of the height and of the width, filled within the range of values.
  const Tensor inside = ops::cast(ops::equal(erased, 255), DType::float32);
  CHECK(ops::max(ops::abs(ops::sum(inside, {1, 2, 3}) - 4.0 * 6 * 2)).item() == 0);
  CHECK(ops::min(erased).item() == 100);
  const Tensor noise = trained("RandomErasing", {{"factor", both(1)}, {"seed", 2}}, x)[0];
  CHECK(ops::min(noise).item() == 0);
  CHECK(ops::max(noise).item() == 255);
}

TEST_CASE("mixtures are of two images, and of their labels by the same shares") {
  constexpr int64_t kCount = 64;
  // Image i is all i.
  const Tensor x = ops::broadcast_to(
      ops::reshape(ops::arange(kCount, DType::float32), {kCount, 1, 1, 1}), {kCount, 10, 10, 1});
  const Tensor labels = ops::eye(kCount, kCount);
  const Dict with_labels{{"labels", Codec<Tensor>::encode(labels)}};
  const Tensor numbers = ops::reshape(ops::arange(kCount, DType::float32), {kCount, 1});
  for (const char* name : {"MixUp", "CutMix"}) {
    const Tensors mixed = trained(name, {{"seed", 3}}, x, with_labels);
    REQUIRE(mixed.size() == 2);
    CHECK(ops::max(ops::abs(ops::sum(mixed[1], {1}) - 1.0)).item() < 1e-5);
    // What labels say is the mean of the image, exactly for MixUp, up to whole pixels for CutMix.
    const Tensor said = ops::squeeze(ops::matmul(mixed[1], numbers), 1);
    const Tensor apart = ops::abs(ops::mean(mixed[0], {1, 2, 3}) - said);
    CHECK(ops::max(apart).item() < (std::string(name) == "MixUp" ? 1e-3 : 14.0));
    CHECK(ops::mean(apart).item() < (std::string(name) == "MixUp" ? 1e-4 : 2.0));
  }
  CHECK_THROWS_WITH(
      trained("MixUp", {}, x, {{"labels", Codec<Tensor>::encode(ops::arange(kCount))}}),
      Catch::Matchers::Contains("(batch, classes)"));
  // Shares from Beta(a, a): mean 1/2, variance 1 / (4 (2 a + 1)).
  for (const double alpha : {0.2, 1.0, 3.0}) {
    const Tensor each = ops::eye(1000, 1000);
    const Tensors result =
        trained("MixUp", {{"alpha", alpha}, {"seed", 1}}, ops::zeros({1000, 1, 1, 1}),
                {{"labels", Codec<Tensor>::encode(each)}});
    const Tensor shares = ops::sum(result[1] * each, {1});
    CHECK(ops::mean(shares).item() == Approx(0.5).margin(0.04));
    CHECK(ops::variance(shares).item() == Approx(1 / (4 * (2 * alpha + 1))).epsilon(0.15));
  }
}

TEST_CASE("masks are changed as their images are") {
  const Tensor x = images();
  const Tensor mask = ops::cast(ops::greater(x, 120), DType::int32);
  const Dict with_mask{{"segmentation_masks", Codec<Tensor>::encode(mask)}};
  const Value nearest = "nearest";
  const std::pair<const char*, Dict> rows[] = {
      {"RandomFlip", {}},
      {"RandomCrop", {{"height", 2}, {"width", 2}}},
      {"RandomTranslation",
       {{"height_factor", 0.5}, {"width_factor", 0.5}, {"interpolation", nearest}}},
      {"RandomRotation", {{"factor", 0.4}, {"interpolation", nearest}}},
      {"RandomZoom", {{"height_factor", 0.4}, {"interpolation", nearest}}},
      {"RandomShear", {{"x_factor", 0.5}, {"interpolation", nearest}}},
      {"RandomPerspective", {{"factor", both(1)}, {"interpolation", nearest}}},
      {"RandomElasticTransform", {{"factor", both(1)}, {"interpolation", nearest}}},
      {"CutMix", {}}};
  for (auto [name, options] : rows) {
    INFO(name);
    options.set("seed", 6);
    const Tensors both_changed = trained(name, options, x, with_mask);
    REQUIRE(both_changed.size() == 2);
    CHECK(both_changed[1].dtype() == DType::int32);
    CHECK(ops::cast(ops::greater(both_changed[0], 120), DType::int32).to_vector() ==
          both_changed[1].to_vector());
  }
  const Tensors brighter = trained("RandomBrightness", {{"factor", both(0.2)}}, x, with_mask);
  CHECK(brighter[1].to_vector() == mask.to_vector());
}

TEST_CASE("what is not training leaves images as they are, and calls by themselves train") {
  const Tensor x = images();
  CallOptions inference;
  inference.training = false;
  for (const LayerPtr& layer :
       {make<Layer>("RandomInvert", {{"factor", both(1)}}),
        make<Layer>("Pipeline", {{"layers", List{Dict{{"class_name", "RandomInvert"},
                                                      {"config", Dict{{"factor", both(1)}}}}}}})}) {
    CHECK((*layer)(x, inference).to_vector() == x.to_vector());
    CHECK((*layer)(x).to_vector() == (255.0 - x).to_vector());
    // In a model that is told nothing, as in one that predicts.
    InputOptions of_input;
    of_input.shape = Shape{kHeight, kWidth, kChannels};
    const Symbol input = Input(of_input);
    const auto model = Functional::make({input}, {(*layer)(input)});
    CHECK(model->predict({x})[0].to_vector() == x.to_vector());
  }
  const Tensor large = Tensor::full({2, 9, 7, 3}, 5);
  CHECK((*make<Layer>("RandomCrop", {{"height", 4}, {"width", 3}}))(large, inference).shape() ==
        Shape{2, 4, 3, 3});
}

TEST_CASE("combinations draw anew for every batch") {
  const Tensor x = ops::cast(images(), DType::uint8);
  for (const char* name : {"RandAugment", "AugMix"}) {
    INFO(name);
    const LayerPtr layer = make<Layer>(name, {{"seed", 1}});
    std::set<std::vector<double>> results;
    const Function compiled([&](const Tensors& inputs) {
      CallOptions training;
      training.training = true;
      return (*layer)(inputs, training);
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
  CHECK_THROWS_WITH(make<Layer>("AutoContrast", {{"value_range", both(3)}}), Contains("differ"));
  CHECK_THROWS_WITH(make<Layer>("MixUp", {{"alpha", 0}}), Contains("alpha"));
  CHECK_THROWS_WITH(make<Layer>("RandomGaussianBlur", {{"kernel_size", 4}}),
                    Contains("must be an odd number"));
  CHECK_THROWS_WITH(make<Layer>("RandomErasing", {{"fill_value", List{1, 2}}}),
                    Contains("three numbers"));
  CHECK_THROWS_WITH(make<Layer>("RandomShear", {{"x_factor", -0.1}}), Contains("[0, 1]"));
  // As Keras writes a shear of 0.2.
  CHECK(
      *make<Layer>("RandomShear", {{"x_factor", List{-0.2, 0.2}}})->get_config().find("x_factor") ==
      Value(0.2));
  CHECK_THROWS_WITH(
      (*make<Layer>("RandomHue", {{"factor", 0.1}}))(Tensor({2, 4, 4, 1}, DType::float32)),
      Contains("three channels"));
  CHECK_THROWS_WITH((*make<Layer>("RandomFlip"))(Tensor({4, 4}, DType::float32)),
                    Contains("min_ndim=3"));
}
