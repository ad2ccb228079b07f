// Heat maps: matrices as grids of coloured fields, one per value, with numbers in them: confusion
// matrices, attention, weights.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "entries.h"
#include "figure.h"
#include "scene/color_bar.h"
#include "scene/title.h"

namespace crescent::pictures {
namespace {

struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<double> values;
  double min = 0, max = 0;  ///< range of the finite values
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

Matrix matrix_from(const Tensor& tensor) {
  if (tensor.rank() != 2 || tensor.size() == 0)
    fail("expected a matrix (rows, columns), got ", tensor.spec());
  Matrix matrix{static_cast<size_t>(tensor.dim(0)), static_cast<size_t>(tensor.dim(1)),
                tensor.to_vector()};
  matrix.min = INFINITY, matrix.max = -INFINITY;
  for (const double value : matrix.values) {
    if (!std::isfinite(value)) continue;
    matrix.min = std::min(matrix.min, value);
    matrix.max = std::max(matrix.max, value);
  }
  return matrix;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const bool is_integer = value == std::floor(value) && std::abs(value) < 1e6;
  std::snprintf(text, sizeof text, is_integer ? "%.0f" : "%.3g", value);
  return text;
}

Color color_of(const Matrix& matrix, double value) {
  if (!std::isfinite(value)) return {0xbb, 0xbb, 0xbb};
  const bool has_several_values = matrix.max > matrix.min;
  return heat_color(has_several_values ? Range{matrix.min, matrix.max}.share(value) : 0.5);
}

/// The layout of the grid: the position of the first field, the size of a field, and the space
/// around the fields.
struct FieldGrid {
  double left = 0, top = 0, width = 1, height = 1;
  double row_names_width = 0;
  double right_width = 0;  ///< width of the space to the right of the fields
  bool shows_numbers = true;
};

double max_width_of(const Metrics& metrics, const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, metrics.width(text));
  return width;
}

std::vector<std::string> numbers_below(size_t count) {
  std::vector<std::string> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

std::vector<std::string> names_or_numbers(const Dict& figure, const char* name, size_t count) {
  if (entry(figure, name).is_null()) return numbers_below(count);
  return texts_with_count(figure, name, count);
}

class HeatmapLayout {
 public:
  HeatmapLayout(const Dict& figure, const Metrics& metrics, Size size)
      : metrics_(metrics),
        matrix_(matrix_from(tensor_entry(figure, "values"))),
        row_names_(names_or_numbers(figure, "rows", matrix_.rows)),
        column_names_(names_or_numbers(figure, "columns", matrix_.columns)),
        title_(text_entry(figure, "title")),
        xlabel_(text_entry(figure, "xlabel")),
        ylabel_(text_entry(figure, "ylabel")) {
    choose_margins();
    choose_numbers(entry(figure, "numbers"), size);
    choose_color_bar(entry(figure, "colorbar"));
    size_fields(size);
    size_scene(size);
  }

  Scene run() {
    draw_fields();
    draw_names();
    draw_titles();
    if (color_bar_) color_bar_->draw(scene_, metrics_, corner(0, matrix_.columns), total_height());
    return std::move(scene_);
  }

 private:
  double gap() const { return metrics_.in_cells ? 1 : 8; }
  double total_width() const { return fields_.width * static_cast<double>(matrix_.columns); }
  double total_height() const { return fields_.height * static_cast<double>(matrix_.rows); }

  /// Computes the sizes of the spaces on the left of the fields, on their right, and above them.
  void choose_margins() {
    const bool in_cells = metrics_.in_cells;
    fields_.row_names_width = std::min(max_width_of(metrics_, row_names_), in_cells ? 20.0 : 160.0);
    fields_.left = fields_.row_names_width + gap();
    fields_.right_width = gap();
    if (!ylabel_.empty() && !in_cells) fields_.left += metrics_.line_height + 4;
    fields_.top = in_cells ? 0 : 6;
    if (!title_.empty()) fields_.top += in_cells ? 1 : 1.5 * metrics_.line_height;
    if (!ylabel_.empty() && in_cells) fields_.top += 1;
  }

  /// The height of the space below the fields.
  double height_below() const {
    const double lines = 1.3 * metrics_.line_height + (xlabel_.empty() ? 0 : metrics_.line_height);
    return metrics_.in_cells ? std::floor(lines) : lines;
  }

  /// The width of a field if the fields take all of the requested or available width.
  double max_field_width(Size size) const {
    const double max_width = size.width > 0 ? size.width : metrics_.in_cells ? 80 : 640;
    return (max_width - fields_.left - fields_.right_width) / static_cast<double>(matrix_.columns);
  }

  /// The width of the longest number and the gap beside it.
  double number_width() const {
    double width = 0;
    for (const double value : matrix_.values)
      width = std::max(width, metrics_.width(number_text(value)));
    return width + (metrics_.in_cells ? 1 : 10);
  }

  /// Decides whether numbers are drawn in the fields: by default if all numbers fit.
  void choose_numbers(const Value& numbers, Size size) {
    const double field_height =
        (size.height - fields_.top - height_below()) / static_cast<double>(matrix_.rows);
    const bool numbers_fit =
        number_width() <= std::max(max_field_width(size), 1.0) &&
        (size.height == 0 || size.is_limit || field_height >= metrics_.line_height);
    fields_.shows_numbers = numbers_fit && (numbers.is_null() || numbers.as_bool());
  }

  /// Decides whether a color bar is drawn: by default always, but in a terminal only if no numbers
  /// are drawn in the fields.
  void choose_color_bar(const Value& option) {
    const bool is_drawn_by_default = !metrics_.in_cells || !fields_.shows_numbers;
    if (!(matrix_.max > matrix_.min) ||
        !(option.is_null() ? is_drawn_by_default : option.as_bool()))
      return;
    color_bar_.emplace(Range{matrix_.min, matrix_.max}, heat_color);
    fields_.right_width += color_bar_->width(metrics_);
  }

  double default_width() const {
    const bool in_cells = metrics_.in_cells;
    const double name_width =
        std::min(max_width_of(metrics_, column_names_), in_cells ? 10.0 : 80.0) +
        (in_cells ? 1 : 10);
    const double number_field_width = fields_.shows_numbers
                                          ? std::max(number_width(), in_cells ? 3.0 : 36.0)
                                      : in_cells ? 2
                                                 : 28;
    return std::max(number_field_width, name_width);
  }

  double default_height(double width) const {
    if (metrics_.in_cells) return 1;
    return std::max(fields_.shows_numbers ? metrics_.line_height + 6 : 2.0, std::min(width, 48.0));
  }

  /// Sets the size of fields so that the grid fills the requested size; if only the width or only
  /// the height is given, fields keep their proportions.
  void size_fields(Size size) {
    const bool is_requested = !size.is_limit;
    const double field_width = max_field_width(size),
                 default_field_width = std::min(default_width(), field_width);
    const double field_height =
        (size.height - fields_.top - height_below()) / static_cast<double>(matrix_.rows);
    const double aspect_ratio =
        default_height(default_field_width) / std::max(default_field_width, 1.0);
    fields_.width = default_field_width, fields_.height = default_height(default_field_width);
    if (is_requested && size.height > 0)
      fields_.height = field_height, fields_.width = field_height / aspect_ratio;
    if (is_requested && size.width > 0) fields_.width = field_width;
    if (is_requested && size.width > 0 && size.height == 0)
      fields_.height = field_width * aspect_ratio;
    fields_.width = limit_length(metrics_.in_cells ? 1 : 2, std::min(fields_.width, field_width));
    fields_.height = limit_length(metrics_.in_cells ? 1 : 2, fields_.height);
  }

  double limit_length(double min, double length) const {
    return std::max(min, metrics_.in_cells ? std::floor(length) : length);
  }

  void size_scene(Size size) {
    const double max_width = size.width > 0 ? size.width : metrics_.in_cells ? 80 : 640;
    scene_.width = fields_.left + total_width() + fields_.right_width;
    scene_.height = fields_.top + total_height() + height_below();
    const double labels_width =
        std::max(metrics_.width(xlabel_), metrics_.in_cells ? metrics_.width(ylabel_) : 0);
    const double texts_width = std::max(title_width(metrics_, title_), labels_width);
    scene_.width = std::max(scene_.width, std::min(max_width, texts_width));
    if (size.is_limit || metrics_.in_cells) return;
    scene_.width = std::max(scene_.width, size.width);
    scene_.height = std::max(scene_.height, size.height);
  }

  Point corner(size_t row, size_t column) const {
    return {fields_.left + static_cast<double>(column) * fields_.width,
            fields_.top + static_cast<double>(row) * fields_.height};
  }

  void draw_fields() {
    if (!fields_.shows_numbers) return draw_pixels();
    for (size_t row = 0; row < matrix_.rows; ++row)
      for (size_t column = 0; column < matrix_.columns; ++column) draw_field(row, column);
  }

  void draw_field(size_t row, size_t column) {
    const double value = matrix_.at(row, column);
    const Color color = color_of(matrix_, value);
    const Point at = corner(row, column);
    scene_.elements.push_back(
        Box{.at = at, .width = fields_.width, .height = fields_.height, .fill = color});
    if (fields_.shows_numbers)
      scene_.elements.push_back(Text{.at = {at.x + fields_.width / 2, at.y + fields_.height / 2},
                                     .text = number_text(value),
                                     .anchor = Anchor::middle,
                                     .color = readable_on(color)});
  }

  /// Draws the fields as one bitmap with a pixel per field; terminals without colours show pixels
  /// as characters.
  void draw_pixels() {
    Bitmap pixels{.at = corner(0, 0), .width = total_width(), .height = total_height()};
    pixels.rows = static_cast<int64_t>(matrix_.rows);
    pixels.columns = static_cast<int64_t>(matrix_.columns);
    for (const double value : matrix_.values) {
      const Color color = color_of(matrix_, value);
      pixels.rgb.insert(pixels.rgb.end(), {color.red, color.green, color.blue});
    }
    scene_.elements.push_back(std::move(pixels));
  }

  void draw_names() {
    const double gap = metrics_.in_cells ? 1 : 6;
    double free_y = -1;
    for (size_t row = 0; row < matrix_.rows; ++row) {
      const double middle = corner(row, 0).y + fields_.height / 2;
      if (middle - metrics_.line_height / 2 < free_y) continue;
      free_y = middle + metrics_.line_height / 2;
      scene_.elements.push_back(
          Text{.at = {fields_.left - gap, middle},
               .text = fitted_text(metrics_, row_names_[row], fields_.row_names_width),
               .anchor = Anchor::end});
    }
    draw_column_names();
  }

  /// Draws the names of columns. Names that do not fit are cut, or omitted if nothing would remain.
  void draw_column_names() {
    const double middle =
        corner(matrix_.rows, 0).y + metrics_.line_height * (metrics_.in_cells ? 0.5 : 0.65);
    double free_x = 0;
    for (size_t column = 0; column < matrix_.columns; ++column) {
      const double left = corner(0, column).x;
      const double text_width =
          std::max(fields_.width - (metrics_.in_cells ? 1 : 4), metrics_.width("00"));
      const std::string text = fitted_text(metrics_, column_names_[column], text_width);
      const double begin = left + (fields_.width - metrics_.width(text)) / 2;
      if (begin < free_x) continue;
      free_x = begin + metrics_.width(text) + (metrics_.in_cells ? 1 : 4);
      scene_.elements.push_back(
          Text{.at = {left + fields_.width / 2, middle}, .text = text, .anchor = Anchor::middle});
    }
  }

  void draw_titles() {
    if (!title_.empty())
      scene_.elements.push_back(title_text(
          metrics_, title_, {scene_.width / 2, metrics_.in_cells ? 0.5 : metrics_.line_height},
          scene_.width));
    if (!xlabel_.empty()) draw_xlabel();
    if (!ylabel_.empty()) draw_ylabel();
  }

  /// Draws the label of the x axis below the middle of the fields, or as near to it as the width of
  /// the label allows.
  void draw_xlabel() {
    const std::string text = fitted_text(metrics_, xlabel_, scene_.width);
    const double half_width = std::min(metrics_.width(text), scene_.width) / 2;
    const double middle =
        std::clamp(fields_.left + total_width() / 2, half_width, scene_.width - half_width);
    scene_.elements.push_back(
        Text{.at = {middle, corner(matrix_.rows, 0).y + height_below() - metrics_.line_height / 2},
             .text = text,
             .anchor = Anchor::middle});
  }

  /// Draws the label of the y axis: vertically, or in a terminal, which has no vertical text, above
  /// the fields.
  void draw_ylabel() {
    if (metrics_.in_cells)
      scene_.elements.push_back(
          Text{.at = {0, fields_.top - 0.5}, .text = fitted_text(metrics_, ylabel_, scene_.width)});
    else
      scene_.elements.push_back(
          Text{.at = {metrics_.line_height / 2 + 2, fields_.top + total_height() / 2},
               .text = fitted_text(metrics_, ylabel_, scene_.height),
               .anchor = Anchor::middle,
               .upright = true});
  }

  const Metrics& metrics_;
  Matrix matrix_;
  std::vector<std::string> row_names_, column_names_;
  std::string title_, xlabel_, ylabel_;
  FieldGrid fields_;
  std::optional<ColorBar> color_bar_;
  Scene scene_;
};

}  // namespace

Scene layout_heatmap(const Dict& figure, const Metrics& metrics, Size size) {
  return HeatmapLayout(figure, metrics, size).run();
}

}  // namespace crescent::pictures
