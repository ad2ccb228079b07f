// Histogram equalization of images, of whole channels or of tiles.
#include <algorithm>
#include <cmath>

#include "augmentation.h"
#include "crescent/program/op_types.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// The number of occurrences of each integer from 0 to count - 1, as floating point.
Tensor occurrence_counts(const Tensor& numbers, int64_t count, DType dtype) {
  ScatterAdd add;
  add.axis = 0;
  add.size = count;
  const Tensor flat_numbers = ops::reshape(numbers, {numbers.size()});
  return apply1(add, {flat_numbers, ops::ones({numbers.size()}, dtype)});
}

/// Rounds x to integers and limits these to the range from 0 to `max_value`; NaN becomes 0.
Tensor clipped_to_int(const Tensor& x, double max_value) {
  return ops::cast(ops::minimum(ops::where(ops::greater(x, 0), x, 0), max_value), DType::int32);
}

/// The numbers 0 to count - 1 along one axis of a tensor with four axes.
Tensor numbers_along(int axis, int64_t count) {
  Shape shape{1, 1, 1, 1};
  shape.set(axis, count);
  return ops::reshape(ops::arange(count), shape);
}

class Equalization final : public ImageAugmentation {
 public:
  static void describe(Schema<Equalization>& s) {
    s.doc("Equalizes the histogram of each channel over the batch, in training.");
    describe_value_range(s);
    s.field("bins", &Equalization::bins_, "Number of bins of the histogram.").min(2).max(65536);
    describe_data_format(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    std::sort(value_range_.begin(), value_range_.end());
  }
  Tensor change_images(const Tensor& images, const RandomParameters&) const override {
    const int64_t channels = images.dim(-1);
    if (images.size() == 0) return images;
    const double last_bin = double(bins_ - 1);
    const Tensor bytes = rescale_values(images, lowest_value(), highest_value(), 0, 255);
    // Converts bin numbers to indices in the histograms of all channels, which are one after
    // another. Keras computes products in another order, so its rounding may differ.
    const auto histogram_index = [&](const Tensor& bin_numbers) {
      return clipped_to_int(bin_numbers, last_bin) + numbers_along(3, channels) * bins_;
    };
    const Tensor histogram =
        ops::reshape(occurrence_counts(histogram_index(bytes * last_bin / 255.0), channels * bins_,
                                       images.dtype()),
                     {channels, bins_});
    const Tensor sum = ops::cumsum(histogram, 1), total = ops::max(sum, {1}, true);
    const Tensor smallest_sum = ops::min(ops::where(ops::greater(sum, 0), sum, total), {1}, true);
    const Tensor nonzero_range = total - smallest_sum, is_nonzero = ops::greater(nonzero_range, 0);
    const Tensor level = ops::clip(
        ops::round((sum - smallest_sum) * 255.0 / ops::where(is_nonzero, nonzero_range, 1.0)), 0,
        255);
    const Tensor equalized_bytes = ops::gather(ops::reshape(level, {channels * bins_}),
                                               histogram_index(bytes / 255.0 * last_bin));
    return rescale_values(
        ops::where(ops::reshape(is_nonzero, {1, 1, 1, channels}), equalized_bytes, bytes), 0, 255,
        lowest_value(), highest_value());
  }

 private:
  int64_t bins_ = 256;
};

/// The indices from 0 to length - 1, continued to `count` indices by mirroring as often as needed:
/// ..., length - 1, length - 1, length - 2, ...
Tensor mirrored_indices(int64_t length, int64_t count) {
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = i % (2 * length);
    indices.push_back(int32_t(position < length ? position : 2 * length - 1 - position));
  }
  return Tensor::from(indices, {count});
}

/// For each pixel along one axis, how its value is interpolated between two neighbouring tiles: the
/// indices of both tiles and the weight of the second one.
struct TileInterpolation {
  Tensor tile, next_tile, weight;
};

TileInterpolation interpolation_of_tiles(int axis, int64_t tile_count, int64_t size, DType dtype) {
  std::vector<int32_t> tile, next_tile;
  std::vector<double> weight;
  for (int64_t i = 0; i < tile_count * size; ++i) {
    const double position = (double(i) - double(size) / 2) / double(size);
    const double tile_before = std::floor(position);
    const auto clamped_tile = [&](double t) {
      return int32_t(std::clamp(t, 0.0, double(tile_count - 1)));
    };
    tile.push_back(clamped_tile(tile_before));
    next_tile.push_back(clamped_tile(tile_before + 1));
    weight.push_back(position - tile_before);
  }
  Shape shape{1, 1, 1, 1};
  shape.set(axis, tile_count * size);
  return {Tensor::from(tile, shape), Tensor::from(next_tile, shape),
          ops::cast(Tensor::from(weight, shape), dtype)};
}

class LocalEqualization final : public ImageAugmentation {
 public:
  static void describe(Schema<LocalEqualization>& s) {
    s.doc(
        "Contrast-limited adaptive histogram equalization (CLAHE): equalizes the clipped histogram "
        "of each tile and blends between tiles, also in inference.");
    describe_value_range(s);
    s.field("clip_limit", &LocalEqualization::clip_limit_,
            "Largest count of a bin as a multiple of the mean count; 0: no limit.")
        .field("tile_grid_size", &LocalEqualization::grid_, "Number of tiles in height and width.")
        .min(1)
        .max(4096);
    describe_data_format(s);
  }
  void configured() override {
    ImageAugmentation::configured();
    if (grid_.size() != 2) fail("tile_grid_size: expected two numbers, got ", Value(grid_));
  }
  Tensor inference_images(const Tensor& images) const override {
    return images.shape().is_known() ? change_images(images, {}) : images;
  }
  Tensor change_images(const Tensor& original_images, const RandomParameters&) const override {
    const int64_t batch = original_images.dim(0), height = original_images.dim(1),
                  width = original_images.dim(2);
    const int64_t tile_rows = (height + grid_[0] - 1) / grid_[0],
                  tile_columns = (width + grid_[1] - 1) / grid_[1];
    if (batch == 0 || tile_rows == 0 || tile_columns == 0 || original_images.dim(3) == 0)
      return original_images;
    if (double(batch * original_images.dim(3) * kLevels) * double(grid_[0] * grid_[1]) >=
        2147483648.0)
      fail("tile_grid_size: ", Value(grid_), " are too many tiles for images of shape ",
           original_images.shape());
    Tensor images = rescale_values(original_images, lowest_value(), highest_value(), 0, 255);
    images = ops::gather(images, mirrored_indices(height, tile_rows * grid_[0]), 1);
    images = ops::gather(images, mirrored_indices(width, tile_columns * grid_[1]), 2);
    const Tensor levels = equalized_levels(images, tile_rows, tile_columns);
    const Tensor level = ops::slice(blended_levels(images, levels, tile_rows, tile_columns),
                                    {0, 0, 0, 0}, {batch, height, width, original_images.dim(3)});
    return rescale_values(level, 0, 255, lowest_value(), highest_value());
  }

 private:
  static constexpr int64_t kLevels = 256;

  /// The indices of entries in the table that levels_of() returns, for the images' values in the
  /// tiles (row, column).
  Tensor table_index(const Tensor& images, const Tensor& row, const Tensor& column) const {
    const int64_t channels = images.dim(3);
    const Tensor image = numbers_along(0, images.dim(0)), channel = numbers_along(3, channels);
    const Tensor tile = (image * grid_[0] + row) * grid_[1] + column;
    return (tile * channels + channel) * kLevels + clipped_to_int(images, kLevels - 1);
  }
  /// The table of new values: a flat array with the axes (image, tile row, tile column, channel,
  /// old value).
  Tensor equalized_levels(const Tensor& images, int64_t tile_rows, int64_t tile_columns) const {
    const Tensor row = ops::repeat(numbers_along(1, grid_[0]), tile_rows, 1),
                 column = ops::repeat(numbers_along(2, grid_[1]), tile_columns, 2);
    const int64_t histogram_count = images.dim(0) * grid_[0] * grid_[1] * images.dim(3);
    const double tile_pixels = double(tile_rows * tile_columns);
    Tensor histogram = ops::reshape(occurrence_counts(table_index(images, row, column),
                                                      histogram_count * kLevels, images.dtype()),
                                    {histogram_count, kLevels});
    if (clip_limit_ > 0) {
      const Tensor clipped_histogram =
          ops::minimum(histogram, clip_limit_ * tile_pixels / double(kLevels));
      histogram =
          clipped_histogram + ops::sum(histogram - clipped_histogram, {1}, true) / double(kLevels);
    }
    const Tensor sum = ops::cumsum(histogram, 1), minimum = ops::min(sum, {1}, true);
    const Tensor range = tile_pixels - minimum;
    const Tensor level = (sum - minimum) * 255.0 / ops::where(ops::equal(range, 0), 1.0, range);
    return ops::reshape(ops::clip(level, 0, 255), {histogram_count * kLevels});
  }
  Tensor blended_levels(const Tensor& images, const Tensor& levels, int64_t tile_rows,
                        int64_t tile_columns) const {
    const TileInterpolation rows = interpolation_of_tiles(1, grid_[0], tile_rows, images.dtype()),
                            columns =
                                interpolation_of_tiles(2, grid_[1], tile_columns, images.dtype());
    const auto values_at = [&](const Tensor& row, const Tensor& column) {
      return ops::gather(levels, table_index(images, row, column));
    };
    const auto interpolated_row = [&](const Tensor& row) {
      return values_at(row, columns.tile) * (1.0 - columns.weight) +
             values_at(row, columns.next_tile) * columns.weight;
    };
    return interpolated_row(rows.tile) * (1.0 - rows.weight) +
           interpolated_row(rows.next_tile) * rows.weight;
  }

  double clip_limit_ = 4;
  std::vector<int64_t> grid_ = {8, 8};
};

}  // namespace

CRESCENT_REGISTER(histograms) {
  registry.add<Equalization>("Equalization");
  registry.add<LocalEqualization>("ContrastLimitedAdaptiveHistogramEqualization");
}

}  // namespace crescent
