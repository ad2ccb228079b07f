// Figures of images: one, or a batch side by side.
#include <algorithm>
#include <cmath>

#include "entries.h"
#include "figure.h"
#include "scene/color_bar.h"
#include "scene/title.h"

namespace crescent::pictures {
namespace {

/// The pixels of a batch of images, which byte() converts to 0..255.
struct ImageBatch {
  int64_t count = 0, rows = 0, columns = 0, channels = 0;
  std::vector<double> values;
  double scale = 1;  ///< the factor that converts values to the range 0 to 255

  uint8_t byte(int64_t offset) const {
    const double value = values[static_cast<size_t>(offset)] * scale;
    return static_cast<uint8_t>(std::isnan(value) ? 0 : std::lround(std::clamp(value, 0.0, 255.0)));
  }
};

ImageBatch images_from(const Tensor& pixels) {
  const Shape& shape = pixels.shape();
  if (shape.rank() != 4 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4) || shape.size() == 0)
    fail("expected images (count, height, width, 1, 3 or 4 channels), got ", pixels.spec());
  const bool are_fractions = is_floating(pixels.dtype()) || pixels.dtype() == DType::boolean;
  return {shape[0], shape[1], shape[2], shape[3], pixels.to_vector(), are_fractions ? 255.0 : 1.0};
}

/// Writes a pixel as RGB, blended with a white background according to its alpha channel.
void write_pixel(const ImageBatch& images, int64_t offset, uint8_t* rgb) {
  const double alpha = images.channels == 4 ? images.byte(offset + 3) / 255.0 : 1;
  for (int64_t c = 0; c < 3; ++c) {
    const uint8_t value = images.byte(offset + (images.channels == 1 ? 0 : c));
    rgb[c] = static_cast<uint8_t>(std::lround(value * alpha + 255 * (1 - alpha)));
  }
}

Bitmap bitmap_of(const ImageBatch& images, int64_t image_index) {
  Bitmap bitmap;
  bitmap.rows = images.rows;
  bitmap.columns = images.columns;
  const int64_t pixels = images.rows * images.columns;
  bitmap.rgb.resize(static_cast<size_t>(3 * pixels));
  for (int64_t i = 0; i < pixels; ++i)
    write_pixel(images, (image_index * pixels + i) * images.channels, &bitmap.rgb[3 * i]);
  return bitmap;
}

// in a terminal, narrower images are widened to the width of their labels, but at most to this
// width
constexpr double kMaxLabelWidth = 16;

/// The layout of a grid of images.
struct Grid {
  int64_t column_count = 1, row_count = 1;
  double width = 0, height = 0;  ///< size of an image in units
  double gap = 0, label_height = 0, top = 0, left = 0;
  double color_bar_width = 0, legend_height = 0;
  double label_width = 0;  ///< width of the longest label in a terminal

  Point offset(int64_t image_index) const {
    return {left + static_cast<double>(image_index % column_count) * (width + gap),
            top + static_cast<double>(image_index / column_count) * (height + label_height + gap)};
  }
  double total_width() const { return static_cast<double>(column_count) * (width + gap) - gap; }
  double total_height() const {
    return static_cast<double>(row_count) * (height + label_height + gap) - gap;
  }
};

/// The width of images if none is requested: small images are magnified by an integer factor.
double default_width(const ImageBatch& images, const Metrics& metrics, const Grid& grid) {
  const auto width = static_cast<double>(images.columns),
             column_count = static_cast<double>(grid.column_count);
  if (metrics.in_cells)
    return std::min(std::max(width, grid.label_width), std::floor(80 / column_count) - 1);
  return width * std::max(1.0, std::floor(600 / (width * column_count)));
}

/// The number of images per row if none is requested: in a terminal as many as fit its width, in
/// pixels the square root of the number of images, rounded up.
int64_t default_columns(const ImageBatch& images, const Metrics& metrics, const Grid& grid,
                        Size size) {
  if (!metrics.in_cells) return std::llround(std::ceil(std::sqrt(images.count)));
  const double width = std::max(static_cast<double>(images.columns), grid.label_width);
  return static_cast<int64_t>((size.width > 0 ? size.width : 80) / (width + 1));
}

/// The default width, reduced if the grid would be wider than the limit, or an image higher than
/// the limit.
double limited_width(const ImageBatch& images, const Metrics& metrics, const Grid& grid,
                     Size size_limit, double aspect_ratio) {
  const auto column_count = static_cast<double>(grid.column_count);
  return std::min(
      {default_width(images, metrics, grid),
       (size_limit.width - grid.color_bar_width - (column_count - 1) * grid.gap) / column_count,
       std::max(1.0, size_limit.height - grid.top - grid.label_height) / aspect_ratio});
}

/// The width of images such that the grid has the requested width and does not exceed the requested
/// height.
double image_width_to_fit(const ImageBatch& images, const Metrics& metrics, const Grid& grid,
                          Size size, double aspect_ratio) {
  const auto column_count = static_cast<double>(grid.column_count),
             row_count = static_cast<double>(grid.row_count);
  const double width_by_columns =
      (size.width - grid.color_bar_width - (column_count - 1) * grid.gap) / column_count;
  const double grid_height =
      size.height - grid.top - grid.legend_height - (row_count - 1) * grid.gap;
  const double width_by_height = (grid_height / row_count - grid.label_height) / aspect_ratio;
  if (size.width == 0 && size.height == 0) return default_width(images, metrics, grid);
  return size.height == 0  ? width_by_columns
         : size.width == 0 ? width_by_height
                           : std::min(width_by_columns, width_by_height);
}

/// Splits a text into lines.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t line_start = 0; line_start <= text.size();) {
    const size_t line_end = std::min(text.find('\n', line_start), text.size());
    lines.push_back(text.substr(line_start, line_end - line_start));
    line_start = line_end + 1;
  }
  return lines;
}

/// The labels below images, split into lines.
std::vector<std::vector<std::string>> labels_in(const Dict& figure, const ImageBatch& images) {
  std::vector<std::vector<std::string>> labels;
  if (entry(figure, "labels").is_null()) return labels;
  for (const std::string& text :
       texts_with_count(figure, "labels", static_cast<size_t>(images.count)))
    labels.push_back(lines_of(text));
  return labels;
}

/// An entry of the legend: the meaning of a colour.
struct LegendItem {
  std::string text;
  Color color;
};

Color color_in(const Value& value) {
  std::vector<double> numbers = numbers_in(value, "color");
  if (numbers.size() != 3) fail("color: expected three numbers, got ", value);
  const auto byte = [](double x) { return static_cast<uint8_t>(std::clamp(x, 0.0, 255.0)); };
  return {byte(numbers[0]), byte(numbers[1]), byte(numbers[2])};
}

std::vector<LegendItem> legend_in(const Dict& figure) {
  std::vector<LegendItem> legend;
  if (entry(figure, "legend").is_null()) return legend;
  for (const Value& item : figure.at("legend").as_list())
    legend.push_back({text_entry(item.as_dict(), "label"), color_in(item.as_dict().at("color"))});
  return legend;
}

/// The color bar of grays, from the number that is shown as black to the number that is shown as
/// white.
std::optional<ColorBar> color_bar_in(const Dict& figure) {
  if (entry(figure, "range").is_null()) return std::nullopt;
  const std::vector<double> ends = numbers_in(figure.at("range"), "range");
  if (ends.size() != 2 || !(ends[0] < ends[1])) return std::nullopt;
  return ColorBar({ends[0], ends[1]}, gray_color);
}

class ImagesLayout {
 public:
  ImagesLayout(const Dict& figure, const Metrics& metrics, Size size)
      : metrics_(metrics),
        images_(images_from(tensor_entry(figure, "pixels"))),
        labels_(labels_in(figure, images_)),
        legend_(legend_in(figure)),
        color_bar_(color_bar_in(figure)),
        title_(text_entry(figure, "title")) {
    choose_margins(entry(figure, "gap"));
    count_columns(entry(figure, "columns"), size);
    size_images(size);
    size_scene(size);
  }

  Scene run() {
    for (int64_t i = 0; i < images_.count; ++i) draw_image(i);
    if (color_bar_)
      color_bar_->draw(scene_, metrics_, {grid_.left + grid_.total_width(), grid_.top},
                       grid_.total_height());
    draw_legend();
    if (!title_.empty())
      scene_.elements.push_back(
          title_text(metrics_, title_, {scene_.width / 2, grid_.top / 2}, scene_.width));
    return std::move(scene_);
  }

 private:
  void choose_margins(const Value& gap) {
    const bool in_cells = metrics_.in_cells;
    size_t lines = 0;
    for (const auto& label : labels_) {
      lines = std::max(lines, label.size());
      for (const std::string& line : label)
        grid_.label_width = std::max(grid_.label_width, in_cells ? metrics_.width(line) : 0);
    }
    grid_.label_width = std::min(grid_.label_width, kMaxLabelWidth);
    grid_.gap = in_cells ? 1 : gap.is_null() ? (images_.count > 1 ? 4 : 0) : gap.as_float();
    grid_.label_height = static_cast<double>(lines) * metrics_.line_height;
    grid_.top = title_.empty() ? 0 : in_cells ? 1 : 1.4 * metrics_.line_height;
    grid_.color_bar_width = color_bar_ ? color_bar_->width(metrics_) : 0;
    grid_.legend_height = static_cast<double>(legend_.size()) * metrics_.line_height;
  }

  void count_columns(const Value& columns, Size size) {
    grid_.column_count = std::clamp<int64_t>(
        columns.is_null() ? default_columns(images_, metrics_, grid_, size) : columns.as_int(), 1,
        images_.count);
    grid_.row_count = (images_.count + grid_.column_count - 1) / grid_.column_count;
  }

  void size_images(Size size) {
    const double aspect_ratio = metrics_.aspect() * static_cast<double>(images_.rows) /
                                static_cast<double>(images_.columns);
    const double width = size.is_limit
                             ? limited_width(images_, metrics_, grid_, size, aspect_ratio)
                             : image_width_to_fit(images_, metrics_, grid_, size, aspect_ratio);
    const double min = metrics_.in_cells ? 1 : 0.1;
    grid_.width = std::max(min, metrics_.in_cells ? std::floor(width) : width);
    grid_.height = std::max(min, grid_.width * aspect_ratio);
    if (metrics_.in_cells) grid_.height = std::ceil(grid_.height);
  }

  /// Sets the size of the scene; by default it is at least as wide as its title.
  void size_scene(Size size) {
    const double content_width = grid_.total_width() + grid_.color_bar_width;
    double scene_width = std::max(content_width, title_width(metrics_, title_));
    if (size.width > 0)
      scene_width = size.is_limit ? std::min(scene_width, std::max(content_width, size.width))
                                  : content_width;
    grid_.left = (scene_width - content_width) / 2;
    if (metrics_.in_cells) grid_.left = std::floor(grid_.left);
    scene_.width = scene_width;
    scene_.height = grid_.top + grid_.total_height() + grid_.legend_height;
  }

  void draw_image(int64_t image_index) {
    Bitmap bitmap = bitmap_of(images_, image_index);
    bitmap.at = grid_.offset(image_index);
    bitmap.width = grid_.width;
    bitmap.height = grid_.height;
    scene_.elements.push_back(std::move(bitmap));
    if (!labels_.empty()) draw_label(image_index, labels_[static_cast<size_t>(image_index)]);
  }

  void draw_label(int64_t image_index, const std::vector<std::string>& lines) {
    const Point offset = grid_.offset(image_index);
    double middle_y = offset.y + grid_.height + metrics_.line_height / 2;
    for (const std::string& line : lines) {
      scene_.elements.push_back(Text{.at = {offset.x + grid_.width / 2, middle_y},
                                     .text = fitted_text(metrics_, line, grid_.width),
                                     .anchor = Anchor::middle});
      middle_y += metrics_.line_height;
    }
  }

  /// Draws the legend below the images, one line per colour.
  void draw_legend() {
    const double sample_width = metrics_.in_cells ? 2 : 12, gap = metrics_.in_cells ? 1 : 6;
    double middle_y = grid_.top + grid_.total_height() + metrics_.line_height / 2;
    for (const LegendItem& item : legend_) {
      const double sample_height = metrics_.in_cells ? 1 : sample_width;
      scene_.elements.push_back(Box{.at = {grid_.left, middle_y - sample_height / 2},
                                    .width = sample_width,
                                    .height = sample_height,
                                    .fill = item.color,
                                    .kind = BoxKind::bar});
      scene_.elements.push_back(Text{
          .at = {grid_.left + sample_width + gap, middle_y},
          .text =
              fitted_text(metrics_, item.text, scene_.width - grid_.left - sample_width - gap)});
      middle_y += metrics_.line_height;
    }
  }

  const Metrics& metrics_;
  ImageBatch images_;
  std::vector<std::vector<std::string>> labels_;
  std::vector<LegendItem> legend_;
  std::optional<ColorBar> color_bar_;
  std::string title_;
  Grid grid_;
  Scene scene_;
};

}  // namespace

Scene layout_images(const Dict& figure, const Metrics& metrics, Size size) {
  return ImagesLayout(figure, metrics, size).run();
}

}  // namespace crescent::pictures
