// Figures of images: one, or a batch side by side.
#include <algorithm>
#include <cmath>

#include "entries.h"
#include "figure.h"

namespace crescent::pictures {
namespace {

/// The pixels of a batch of images as bytes.
struct Images {
  int64_t count = 0, rows = 0, columns = 0, channels = 0;
  std::vector<double> values;
  double scale = 1;  ///< of values to 0..255

  uint8_t byte(int64_t place) const {
    const double value = values[static_cast<size_t>(place)] * scale;
    return static_cast<uint8_t>(std::isnan(value) ? 0 : std::lround(std::clamp(value, 0.0, 255.0)));
  }
};

Images images_from(const Tensor& pixels) {
  const Shape& shape = pixels.shape();
  if (shape.rank() != 4 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4) || shape.size() == 0)
    fail("expected images (count, height, width, 1, 3 or 4 channels), got ", pixels.spec());
  const bool fractions = is_floating(pixels.dtype()) || pixels.dtype() == DType::boolean;
  return {shape[0], shape[1], shape[2], shape[3], pixels.to_vector(), fractions ? 255.0 : 1.0};
}

/// Writes the pixel over white, as opaque as its fourth channel says.
void write_pixel(const Images& images, int64_t place, uint8_t* rgb) {
  const double alpha = images.channels == 4 ? images.byte(place + 3) / 255.0 : 1;
  for (int64_t c = 0; c < 3; ++c) {
    const uint8_t value = images.byte(place + (images.channels == 1 ? 0 : c));
    rgb[c] = static_cast<uint8_t>(std::lround(value * alpha + 255 * (1 - alpha)));
  }
}

Bitmap bitmap_of(const Images& images, int64_t number) {
  Bitmap bitmap;
  bitmap.rows = images.rows;
  bitmap.columns = images.columns;
  const int64_t pixels = images.rows * images.columns;
  bitmap.rgb.resize(static_cast<size_t>(3 * pixels));
  for (int64_t i = 0; i < pixels; ++i)
    write_pixel(images, (number * pixels + i) * images.channels, &bitmap.rgb[3 * i]);
  return bitmap;
}

/// How a grid of images is placed.
struct Grid {
  int64_t across = 1, down = 1;
  double width = 0, height = 0;  ///< of an image
  double gap = 0, label = 0, top = 0, left = 0;

  Point place(int64_t number) const {
    return {left + static_cast<double>(number % across) * (width + gap),
            top + static_cast<double>(number / across) * (height + label + gap)};
  }
};

/// How wide images are when nobody says it: small ones are magnified by a whole number.
double usual_width(const Images& images, const Metrics& metrics, int64_t across) {
  const auto width = static_cast<double>(images.columns);
  if (metrics.cells) return std::min(width, std::floor(80.0 / static_cast<double>(across)) - 1);
  return width * std::max(1.0, std::floor(600 / (width * static_cast<double>(across))));
}

/// How many images stand side by side when nobody says it: as many as fit into lines of text, and
/// as many as stand below each other in pixels.
int64_t usual_columns(const Images& images, const Metrics& metrics, Size size) {
  if (!metrics.cells) return std::llround(std::ceil(std::sqrt(images.count)));
  return static_cast<int64_t>(size.width > 0 ? size.width : 80) / (images.columns + 1);
}

/// The usual width, unless an image would be larger than the limit or the grid wider.
double limited_width(const Images& images, const Metrics& metrics, const Grid& grid, Size limit,
                     double shape) {
  const auto across = static_cast<double>(grid.across);
  return std::min({usual_width(images, metrics, grid.across),
                   (limit.width - (across - 1) * grid.gap) / across,
                   std::max(1.0, limit.height - grid.top - grid.label) / shape});
}

/// The width for a grid as wide and no higher than it is to be.
double asked_width(const Images& images, const Metrics& metrics, const Grid& grid, Size size,
                   double shape) {
  const auto across = static_cast<double>(grid.across), down = static_cast<double>(grid.down);
  const double wide = (size.width - (across - 1) * grid.gap) / across;
  const double high =
      ((size.height - grid.top - (down - 1) * grid.gap) / down - grid.label) / shape;
  if (size.width == 0 && size.height == 0) return usual_width(images, metrics, grid.across);
  return size.height == 0 ? wide : size.width == 0 ? high : std::min(wide, high);
}

Grid grid_for(const Images& images, const Dict& figure, const Metrics& metrics, Size size) {
  Grid grid;
  const Value& columns = entry(figure, "columns");
  grid.across = std::clamp<int64_t>(
      columns.is_null() ? usual_columns(images, metrics, size) : columns.as_int(), 1, images.count);
  grid.down = (images.count + grid.across - 1) / grid.across;
  const Value& gap = entry(figure, "gap");
  grid.gap = metrics.cells ? 1 : gap.is_null() ? (images.count > 1 ? 4 : 0) : gap.as_float();
  grid.label = texts_entry(figure, "labels").empty() ? 0 : metrics.line;
  grid.top = text_entry(figure, "title").empty() ? 0 : 1.4 * metrics.line;
  if (metrics.cells) grid.top = std::floor(grid.top);
  const double shape =
      metrics.aspect() * static_cast<double>(images.rows) / static_cast<double>(images.columns);
  grid.width = size.is_limit ? limited_width(images, metrics, grid, size, shape)
                             : asked_width(images, metrics, grid, size, shape);
  const double least = metrics.cells ? 1 : 0.1;
  grid.width = std::max(least, metrics.cells ? std::floor(grid.width) : grid.width);
  grid.height = std::max(least, grid.width * shape);
  if (metrics.cells) grid.height = std::ceil(grid.height);
  return grid;
}

void draw_label(Scene& scene, const Metrics& metrics, const Grid& grid, int64_t number,
                const std::string& label) {
  const Point place = grid.place(number);
  scene.elements.push_back(
      Text{.at = {place.x + grid.width / 2, place.y + grid.height + grid.label / 2},
           .text = fitted_text(metrics, label, grid.width + grid.gap / 2),
           .anchor = Anchor::middle});
}

}  // namespace

Scene layout_images(const Dict& figure, const Metrics& metrics, Size size) {
  const Images images = images_from(tensor_entry(figure, "pixels"));
  const Grid grid = grid_for(images, figure, metrics, size);
  const std::vector<std::string> labels = texts_entry(figure, "labels");
  Scene scene;
  scene.width = static_cast<double>(grid.across) * (grid.width + grid.gap) - grid.gap;
  scene.height =
      grid.top + static_cast<double>(grid.down) * (grid.height + grid.label + grid.gap) - grid.gap;
  for (int64_t i = 0; i < images.count; ++i) {
    Bitmap bitmap = bitmap_of(images, i);
    bitmap.at = grid.place(i);
    bitmap.width = grid.width;
    bitmap.height = grid.height;
    scene.elements.push_back(std::move(bitmap));
    if (static_cast<size_t>(i) < labels.size())
      draw_label(scene, metrics, grid, i, labels[static_cast<size_t>(i)]);
  }
  if (const std::string title = text_entry(figure, "title"); !title.empty())
    scene.elements.push_back(Text{.at = {scene.width / 2, grid.top / 2},
                                  .text = fitted_text(metrics, title, scene.width),
                                  .anchor = Anchor::middle,
                                  .bold = true});
  return scene;
}

}  // namespace crescent::pictures
