// Reading images at coordinates between their pixels.
#pragma once
#include <algorithm>

#include "crescent/program/array_op_types.h"

namespace crescent::operations {

/// The remainder of i modulo n in the range from 0 to n - 1.
inline int64_t wrap_index(int64_t i, int64_t n) { return ((i % n) + n) % n; }

/// The index of the element, on an axis of n elements, that stands for index i according to the
/// fill mode; -1 if there is none.
inline int64_t source_index(int64_t i, int64_t n, FillMode fill) {
  if (i >= 0 && i < n) return i;
  switch (fill) {
    case FillMode::constant:
      return -1;
    case FillMode::nearest:
      return std::clamp<int64_t>(i, 0, n - 1);
    case FillMode::wrap:
      return wrap_index(i, n);
    case FillMode::mirror: {
      if (n == 1) return 0;
      const int64_t position = wrap_index(i, 2 * (n - 1));
      return std::min(position, 2 * (n - 1) - position);
    }
    case FillMode::reflect: {
      const int64_t position = wrap_index(i, 2 * n);
      return std::min(position, 2 * n - 1 - position);
    }
  }
  return -1;
}

/// The floor of a coordinate as an integer. Coordinates far outside of the image and NaN do not
/// overflow.
inline int64_t floor_of(float x) {
  constexpr float kMaxCoordinate = 1e9F;
  const float limited_x = x > -kMaxCoordinate ? std::min(x, kMaxCoordinate) : -kMaxCoordinate;
  const auto truncated_x = static_cast<int64_t>(limited_x);
  return truncated_x - (static_cast<float>(truncated_x) > limited_x ? 1 : 0);
}

/// The nearest integer; halves are rounded to even.
inline int64_t nearest_index(float x) {
  const int64_t floor_index = floor_of(x);
  const float fraction = x - static_cast<float>(floor_index);
  return fraction > 0.5F || (fraction == 0.5F && floor_index % 2 != 0) ? floor_index + 1
                                                                       : floor_index;
}

/// Reads the channels [first, first + count) of one image (height, width, channels) at any
/// coordinates.
struct ImageSampler {
  int64_t order;  ///< 0: nearest pixel, 1: bilinear interpolation
  FillMode fill;
  float fill_value;
  int64_t height, width, channels;

  void operator()(const float* image, float row, float column, int64_t first, int64_t count,
                  float* to) const {
    if (order == 0) return nearest(image + first, row, column, count, to);
    if (channels == 1) return interpolate<1>(image, row, column, 1, to);
    if (first == 0 && count == 3 && channels == 3) return interpolate<3>(image, row, column, 3, to);
    interpolate<0>(image + first, row, column, count, to);
  }

 private:
  /// The address of the pixel at these indices; null if they are outside and the fill mode names no
  /// other pixel.
  const float* pixel(const float* image, int64_t row, int64_t column) const {
    const int64_t y = source_index(row, height, fill), x = source_index(column, width, fill);
    return y < 0 || x < 0 ? nullptr : image + (y * width + x) * channels;
  }
  void nearest(const float* image, float row, float column, int64_t count, float* to) const {
    const float* from = pixel(image, nearest_index(row), nearest_index(column));
    for (int64_t c = 0; c < count; ++c) to[c] = from ? from[c] : fill_value;
  }
  /// Interpolates between four pixels. `kStaticChannels` is the number of channels if it is known
  /// at compile time, else 0.
  template <int64_t kStaticChannels>
  void interpolate(const float* image, float row, float column, int64_t channel_count,
                   float* to) const {
    const int64_t count = kStaticChannels > 0 ? kStaticChannels : channel_count,
                  pixel_stride = kStaticChannels > 0 ? kStaticChannels : channels;
    const int64_t y = floor_of(row), x = floor_of(column);
    const float row_fraction = row - static_cast<float>(y),
                column_fraction = column - static_cast<float>(x);
    const float weights[] = {(1 - row_fraction) * (1 - column_fraction),
                             (1 - row_fraction) * column_fraction,
                             row_fraction * (1 - column_fraction), row_fraction * column_fraction};
    if (y >= 0 && x >= 0 && y + 1 < height && x + 1 < width) {
      const float *upper_row = image + (y * width + x) * pixel_stride,
                  *lower_row = upper_row + width * pixel_stride;
      for (int64_t c = 0; c < count; ++c)
        to[c] = upper_row[c] * weights[0] + upper_row[c + pixel_stride] * weights[1] +
                lower_row[c] * weights[2] + lower_row[c + pixel_stride] * weights[3];
      return;
    }
    const float* from[] = {pixel(image, y, x), pixel(image, y, x + 1), pixel(image, y + 1, x),
                           pixel(image, y + 1, x + 1)};
    for (int64_t c = 0; c < count; ++c) {
      float sum = 0;
      for (int corner = 0; corner < 4; ++corner)
        sum += (from[corner] ? from[corner][c] : fill_value) * weights[corner];
      to[c] = sum;
    }
  }
};

}  // namespace crescent::operations
