// Resizing of images: filters, their weights, and weighted sums of lines.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "crescent/ops/ops.h"
#include "data/images/image_size.h"

namespace crescent {
namespace {

// ---- filters: functions that return the weight of a pixel at the distance x

double sinc(double x) {
  return x == 0 ? 1 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi);
}
double box(double x) { return x > -0.5 && x <= 0.5; }
double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }
double hamming(double x) {
  const double distance = std::abs(x);
  return distance >= 1 ? 0 : sinc(distance) * (0.54 + 0.46 * std::cos(distance * std::numbers::pi));
}
/// The cubic filter of Keys with a = -0.5.
double cubic(double x) {
  const double a = -0.5, distance = std::abs(x);
  if (distance < 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return distance < 2 ? (((distance - 5) * distance + 8) * distance - 4) * a : 0;
}
template <int Lobes>
double lanczos(double x) {
  return std::abs(x) < Lobes ? sinc(x) * sinc(x / Lobes) : 0;
}
double gaussian(double x) {
  constexpr double kSigma = 0.5;
  return std::abs(x) < 1.5 ? std::exp(-x * x / (2 * kSigma * kSigma)) : 0;
}
double mitchell(double x) {
  const double distance = std::abs(x);
  if (distance >= 2) return 0;
  if (distance >= 1)
    return (((-7.0 / 18) * distance + 2) * distance - 10.0 / 3) * distance + 16.0 / 9;
  return ((7.0 / 6) * distance - 2) * distance * distance + 8.0 / 9;
}

struct Filter {
  const char* name;
  double radius;
  double (*weight)(double);
};
/// The filters by name. "nearest" takes the pixel under the centre of the new pixel; "area" weights
/// each pixel by the area that the new pixel covers of it.
constexpr Filter kPillowFilters[] = {{"nearest", 0, nullptr}, {"bilinear", 1, triangle},
                                     {"bicubic", 2, cubic},   {"hamming", 1, hamming},
                                     {"box", 0.5, box},       {"lanczos", 3, lanczos<3>}};
constexpr Filter kTensorflowFilters[] = {
    {"bilinear", 1, triangle},   {"nearest", 0, nullptr},       {"bicubic", 2, cubic},
    {"area", 0, nullptr},        {"lanczos3", 3, lanczos<3>},   {"lanczos5", 5, lanczos<5>},
    {"gaussian", 1.5, gaussian}, {"mitchellcubic", 2, mitchell}};

template <size_t N>
std::vector<std::string> names_of(const Filter (&filters)[N]) {
  std::vector<std::string> names;
  for (const Filter& filter : filters) names.emplace_back(filter.name);
  return names;
}
template <size_t N>
const Filter& filter_named(const Filter (&filters)[N], const std::string& name) {
  for (const Filter& filter : filters)
    if (filter.name == name) return filter;
  const std::vector<std::string> names = names_of(filters);
  fail("Invalid interpolation method ", name, " specified", did_you_mean(name, names),
       ". Supported methods are ", join(names));
}

// ---- weights for each pixel of a line

/// The weights, with sum 1, of consecutive pixels, of which the first has the index `first`.
struct PixelWeights {
  int64_t first = 0;
  std::vector<double> weights;
};

PixelWeights area_weights(double begin, double end, int64_t pixel_count) {
  PixelWeights result{static_cast<int64_t>(begin), {}};
  for (int64_t i = result.first; i < std::min(static_cast<int64_t>(std::ceil(end)), pixel_count);
       ++i)
    result.weights.push_back((std::min(end, i + 1.0) - std::max(begin, double(i))) / (end - begin));
  return result;
}

PixelWeights filter_weights(const Filter& filter, double centre, double widening_factor,
                            int64_t pixel_count) {
  const double radius = filter.radius * widening_factor;
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - radius + 0.5)),
             end = std::min(pixel_count, static_cast<int64_t>(centre + radius + 0.5));
  PixelWeights result{first, {}};
  double sum = 0;
  for (int64_t i = first; i < end; ++i) {
    result.weights.push_back(filter.weight((i - centre + 0.5) / widening_factor));
    sum += result.weights.back();
  }
  if (sum != 0)
    for (double& weight : result.weights) weight /= sum;
  return result;
}

/// The weights for `new_count` new pixels, to which the pixels [start, start + length) of a line of
/// `pixel_count` pixels are resized.
std::vector<PixelWeights> pixel_weights(const Filter& filter, bool widens_filter,
                                        int64_t pixel_count, int64_t start, int64_t length,
                                        int64_t new_count) {
  const double scale = double(length) / double(new_count),
               widening_factor = widens_filter ? std::max(scale, 1.0) : 1;
  std::vector<PixelWeights> result;
  for (int64_t i = 0; i < new_count; ++i) {
    const double window_begin = start + i * scale, centre = start + (i + 0.5) * scale;
    if (filter.weight)
      result.push_back(filter_weights(filter, centre, widening_factor, pixel_count));
    else if (std::string_view(filter.name) == "area")
      result.push_back(area_weights(window_begin, window_begin + scale, pixel_count));
    else
      result.push_back({std::min(static_cast<int64_t>(centre), pixel_count - 1), {1.0}});
  }
  return result;
}

// ---- sums in 8 bits as in Pillow, in integers, or in floating point

struct ByteSums {
  using Value = uint8_t;
  static constexpr int kFractionBits = 32 - 8 - 2;
  static int32_t weight(double w) {
    return static_cast<int32_t>(w * (1 << kFractionBits) + (w < 0 ? -0.5 : 0.5));
  }
  static constexpr int32_t kInitialSum = 1 << (kFractionBits - 1);
  static uint8_t value(int32_t sum) {
    return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
  }
};
struct FloatSums {
  using Value = float;
  static float weight(double w) { return static_cast<float>(w); }
  static constexpr float kInitialSum = 0;
  static float value(float sum) { return sum; }
};

/// Computes the lines of `to` as weighted sums of lines of `from`, separately in each of `groups`
/// groups of lines; a line has `line_length` values.
template <class Sums>
void sum_lines(const typename Sums::Value* from, typename Sums::Value* to, int64_t groups,
               int64_t lines, int64_t line_length, const std::vector<PixelWeights>& pixel_weights) {
  using Weight = decltype(Sums::weight(0));
  std::vector<Weight> sums(line_length);
  for (int64_t g = 0; g < groups; ++g)
    for (size_t i = 0; i < pixel_weights.size(); ++i, to += line_length) {
      std::fill(sums.begin(), sums.end(), Sums::kInitialSum);
      for (size_t k = 0; k < pixel_weights[i].weights.size(); ++k) {
        const auto* line =
            from + (g * lines + pixel_weights[i].first + static_cast<int64_t>(k)) * line_length;
        const Weight weight = Sums::weight(pixel_weights[i].weights[k]);
        for (int64_t j = 0; j < line_length; ++j) sums[j] += weight * line[j];
      }
      for (int64_t j = 0; j < line_length; ++j) to[j] = Sums::value(sums[j]);
    }
}

/// Resizes columns, then rows; an axis that keeps its size is skipped.
template <class Sums>
Tensor resample(const Tensor& image, const Filter& filter, bool widens_filter,
                const ImageRegion& region, ImageSize size) {
  using Value = typename Sums::Value;
  const int64_t rows = image.dim(0), columns = image.dim(1), channels = image.dim(2);
  Tensor resized_columns = image;
  if (region.left != 0 || region.width != columns || size.width != columns) {
    resized_columns = Tensor({image.dtype(), {rows, size.width, channels}});
    sum_lines<Sums>(
        image.data<Value>(), resized_columns.mutable_data<Value>(), rows, columns, channels,
        pixel_weights(filter, widens_filter, columns, region.left, region.width, size.width));
  }
  if (region.top == 0 && region.height == rows && size.height == rows) return resized_columns;
  Tensor result({image.dtype(), {size.height, size.width, channels}});
  sum_lines<Sums>(
      resized_columns.data<Value>(), result.mutable_data<Value>(), 1, rows, size.width * channels,
      pixel_weights(filter, widens_filter, rows, region.top, region.height, size.height));
  return result;
}

void check_image(const Tensor& image, ImageSize size) {
  if (image.rank() != 3) fail("expected an image (height, width, channels), got ", image.spec());
  check_image_size(size);
}

}  // namespace

void check_tensorflow_filter(const std::string& filter) {
  filter_named(kTensorflowFilters, filter);
}

Tensor resize_as_pillow(const Tensor& image, const ImageRegion& region, ImageSize size,
                        const std::string& filter_name) {
  check_image(image, size);
  const Filter& filter = filter_named(kPillowFilters, filter_name);
  if (image.dtype() == DType::uint8) return resample<ByteSums>(image, filter, true, region, size);
  const Tensor float_image = ops::cast(image, DType::float32);
  const Tensor resized_image = resample<FloatSums>(float_image, filter, true, region, size);
  return ops::cast(ops::round(resized_image), image.dtype());
}

Tensor resize_as_tensorflow(const Tensor& image, const ImageRegion& region, ImageSize size,
                            const std::string& filter_name) {
  check_image(image, size);
  const Filter& filter = filter_named(kTensorflowFilters, filter_name);
  const Tensor region_image =
      ops::slice(image, {region.top, region.left, 0}, {region.height, region.width, -1});
  return resample<FloatSums>(ops::cast(region_image, DType::float32), filter, false,
                             whole_image(region_image), size);
}

}  // namespace crescent
