// Layers that change the colours of images at random, compared with formulas: where both bounds of
// a random range are equal, the random number is known.
#include "augmented_images.h"

namespace crescent::test {

TEST_CASE("brightness, contrast and their kin") {
  check("RandomBrightness", {{"factor", pair_of(0.2)}},
        [](int n, int y, int x, int c) { return clipped(value(n, y, x, c) + 0.2 * 255); });
  check("RandomBrightness", {{"factor", pair_of(-0.3)}, {"value_range", List{10, 200}}},
        [](int n, int y, int x, int c) { return clipped(value(n, y, x, c) - 0.3 * 190, 10, 200); });
  const auto mean = [](int n, int c) {
    double sum = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) sum += value(n, y, x, c);
    return sum / (kHeight * kWidth);
  };
  // A factor of 0 means the range from 1 - 0 to 1 + 0, so nothing changes.
  check("RandomContrast", {{"factor", pair_of(0)}}, value);
  check("RandomContrast", {{"factor", List{-0.4, 0.4}}}, [&](int n, int y, int x, int c) {
    return clipped((value(n, y, x, c) - mean(n, c)) * 1.4 + mean(n, c));
  });
  const auto grey = [](int n, int y, int x) {
    return 0.2989 * value(n, y, x, 0) + 0.5870 * value(n, y, x, 1) + 0.1140 * value(n, y, x, 2);
  };
  check("RandomColorDegeneration", {{"factor", pair_of(0.6)}}, [&](int n, int y, int x, int c) {
    return clipped(value(n, y, x, c) + 0.6 * (grey(n, y, x) - value(n, y, x, c)));
  });
  check("RandomGrayscale", {{"factor", 1}},
        [&](int n, int y, int x, int) { return grey(n, y, x); });
  check("RandomGrayscale", {{"factor", 0}}, value);
  check("RandomInvert", {{"factor", pair_of(1)}},
        [](int n, int y, int x, int c) { return 255 - value(n, y, x, c); });
  check("RandomInvert", {{"factor", pair_of(0)}}, value);
  check("RandomSaturation", {{"factor", pair_of(0.3)}}, [](int n, int y, int x, int c) {
    const double largest = std::max({value(n, y, x, 0), value(n, y, x, 1), value(n, y, x, 2)});
    // A saturation factor s moves every channel towards the largest one.
    return largest - (largest - value(n, y, x, c)) * (0.3 / 0.7);
  });
  check("RandomHue", {{"factor", pair_of(0)}}, value);
  // A hue rotation of 120 degrees permutes the channels.
  const std::vector<double> rotated_images =
      outputs_in_training("RandomHue", {{"factor", pair_of(2.0 / 3)}, {"seed", 5}}, images())[0]
          .to_vector();
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n) {
    const bool is_forwards = std::abs(rotated_images[i] - value(n, 0, 0, 2)) < 0.1;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i)
          CHECK(rotated_images[i] ==
                Approx(value(n, y, x, (c + (is_forwards ? 2 : 1)) % kChannels)).margin(0.02));
  }
  check("RandomColorJitter",
        {{"brightness_factor", pair_of(0.1)}, {"contrast_factor", List{-0.4, 0.4}}},
        [&](int n, int y, int x, int c) {
          double mean_brightness = 0;
          for (int row = 0; row < kHeight; ++row)
            for (int column = 0; column < kWidth; ++column)
              mean_brightness += clipped(value(n, row, column, c) + 25.5) / (kHeight * kWidth);
          return clipped((clipped(value(n, y, x, c) + 25.5) - mean_brightness) * 1.4 +
                         mean_brightness);
        });
}

TEST_CASE("filters weigh neighbours") {
  const auto weighted_neighbours = [](int n, int y, int x, int c,
                                      const std::function<double(int, int)>& weight) {
    double sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (y + dy >= 0 && y + dy < kHeight && x + dx >= 0 && x + dx < kWidth)
          sum += weight(dy, dx) * value(n, y + dy, x + dx, c);
    return sum;
  };
  for (const double factor : {0.0, 0.5, 0.9})
    check("RandomSharpness", {{"factor", pair_of(factor)}}, [&](int n, int y, int x, int c) {
      const double smoothed = weighted_neighbours(
          n, y, x, c, [](int dy, int dx) { return dy == 0 && dx == 0 ? 5.0 / 13 : 1.0 / 13; });
      return clipped(value(n, y, x, c) + (1 - 2 * factor) * (smoothed - value(n, y, x, c)));
    });
  const auto gaussian_weight = [](int d, double sigma) {
    const double side = std::exp(-0.5 / (sigma * sigma));
    return (d == 0 ? 1 : side) / (1 + 2 * side);
  };
  check("RandomGaussianBlur", {{"factor", pair_of(1)}, {"sigma", pair_of(0.8)}},
        [&](int n, int y, int x, int c) {
          return weighted_neighbours(n, y, x, c, [&](int dy, int dx) {
            return gaussian_weight(dy, 0.8) * gaussian_weight(dx, 0.8);
          });
        });
  check("RandomGaussianBlur", {{"factor", pair_of(0)}}, value);
}

TEST_CASE("tones are cut, inverted and stretched") {
  check("RandomPosterization", {{"factor", pair_of(3)}},
        [](int n, int y, int x, int c) { return double(int(value(n, y, x, c)) >> 5 << 5); });
  check("Solarization", {{"addition_factor", 0}, {"threshold_factor", 0}},
        [](int n, int y, int x, int c) { return 255 - value(n, y, x, c); });
  // Values below a threshold, drawn for each image from 1 to 255, are unchanged.
  const std::vector<double> solarized_images =
      outputs_in_training("Solarization", {{"threshold_factor", pair_of(1)}, {"seed", 2}},
                          images())[0]
          .to_vector();
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n) {
    double largest_kept = 0, least_inverted = 255;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i) {
          const double v = value(n, y, x, c);
          const bool is_unchanged = std::abs(solarized_images[i] - v) < 1e-3;
          if (!is_unchanged) CHECK(solarized_images[i] == Approx(255 - v).margin(1e-3));
          (is_unchanged ? largest_kept : least_inverted) =
              is_unchanged ? std::max(largest_kept, v) : std::min(least_inverted, v);
        }
    CHECK(largest_kept < least_inverted);
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
  const Tensor constant_image = Tensor::full({1, 2, 2, 1}, 9);
  CHECK(outputs_in_training("AutoContrast", {}, constant_image)[0].to_vector() ==
        constant_image.to_vector());
}

TEST_CASE("levelled histograms") {
  const auto equalized_pixel = [](int n, int y, int x, int c) {
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
  // The index of a bin is the integer part of value / 255 * 255. Because of rounding errors it is
  // too small by 1 for some values, as in Keras.
  const std::vector<double> got = outputs_in_training("Equalization", {}, images())[0].to_vector();
  size_t i = 0, same_count = 0;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i)
          same_count += got[i] == equalized_pixel(n, y, x, c);
  CHECK(same_count > got.size() * 9 / 10);
  const Tensor constant_image = Tensor::full({1, 2, 2, 1}, 9);
  CHECK(outputs_in_training("Equalization", {}, constant_image)[0].to_vector() ==
        constant_image.to_vector());
}

TEST_CASE("local histograms are levelled, cut off and blended") {
  // With a single tile, the lookup table is the one of the whole image, clipped at the limit.
  const double limit = 1.5, pixels = kHeight * kWidth;
  check("ContrastLimitedAdaptiveHistogramEqualization",
        {{"tile_grid_size", List{1, 1}}, {"clip_limit", limit}}, [&](int n, int y, int x, int c) {
          std::vector<double> counts(256, 0);
          for (int row = 0; row < kHeight; ++row)
            for (int column = 0; column < kWidth; ++column)
              counts[size_t(value(n, row, column, c))] += 1;
          double excess = 0;
          for (double& count : counts) {
            const double clipped_count = std::min(count, limit * pixels / 256);
            excess += count - clipped_count;
            count = clipped_count;
          }
          double sum = 0;
          for (int v = 0; v <= int(value(n, y, x, c)); ++v) sum += counts[size_t(v)] + excess / 256;
          const double least_sum = counts[0] + excess / 256;
          return clipped((sum - least_sum) * 255 / (pixels - least_sum));
        });
  // The image has two tiles, each of two different pixels. Between the centres of the tiles, values
  // are interpolated.
  const Tensor row = Tensor::from(std::vector<float>{0, 100, 100, 200}, {1, 1, 4, 1});
  const std::vector<double> got =
      outputs_in_training("ContrastLimitedAdaptiveHistogramEqualization",
                          {{"tile_grid_size", List{1, 2}}, {"clip_limit", 0}}, row)[0]
          .to_vector();
  // The table of the left tile is {0: 0, 100: 255}, of the right tile {below 100: 0, 100: 255, 200:
  // 255 with two counts}. The pixels are -1/2, 0, 1/2 and 1 tiles from the centre of the first
  // tile.
  CHECK(got[0] == Approx(0).margin(1e-3));
  CHECK(got[1] == Approx(255));
  CHECK(got[3] == Approx(255));
}

}  // namespace crescent::test
