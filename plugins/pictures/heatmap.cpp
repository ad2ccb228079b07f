// Matrices as coloured fields with their numbers: confusion matrices, attention, weights.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "entries.h"
#include "figure.h"

namespace crescent::pictures {
namespace {

struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<double> values;
  double least = 0, most = 0;  ///< of the finite values
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

Matrix matrix_from(const Tensor& tensor) {
  if (tensor.rank() != 2 || tensor.size() == 0)
    fail("expected a matrix (rows, columns), got ", tensor.spec());
  Matrix matrix{static_cast<size_t>(tensor.dim(0)), static_cast<size_t>(tensor.dim(1)),
                tensor.to_vector()};
  matrix.least = INFINITY, matrix.most = -INFINITY;
  for (const double value : matrix.values) {
    if (!std::isfinite(value)) continue;
    matrix.least = std::min(matrix.least, value);
    matrix.most = std::max(matrix.most, value);
  }
  return matrix;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e6;
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.3g", value);
  return text;
}

Color color_of(const Matrix& matrix, double value) {
  if (!std::isfinite(value)) return {0xbb, 0xbb, 0xbb};
  const double size = matrix.most - matrix.least;
  return heat_color(size > 0 ? (value - matrix.least) / size : 0.5);
}

/// The fields and what stands around them.
struct Fields {
  double left = 0, top = 0, width = 1, height = 1;
  bool numbers = true;
};

double widest_of(const Metrics& metrics, const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, metrics.width(text));
  return width;
}

std::vector<std::string> names_or_numbers(const Dict& figure, const char* name, size_t count) {
  std::vector<std::string> names = texts_entry(figure, name);
  for (size_t i = names.size(); i < count; ++i) names.push_back(std::to_string(i));
  names.resize(count);
  return names;
}

class HeatmapLayout {
 public:
  HeatmapLayout(const Dict& figure, const Metrics& metrics, Size size)
      : metrics_(metrics),
        matrix_(matrix_from(tensor_entry(figure, "values"))),
        rows_(names_or_numbers(figure, "rows", matrix_.rows)),
        columns_(names_or_numbers(figure, "columns", matrix_.columns)),
        title_(text_entry(figure, "title")),
        xlabel_(text_entry(figure, "xlabel")),
        ylabel_(text_entry(figure, "ylabel")) {
    place(size, entry(figure, "numbers"));
  }

  Scene run() {
    draw_fields();
    draw_names();
    draw_titles();
    return std::move(scene_);
  }

 private:
  void place(Size size, const Value& numbers) {
    const bool cells = metrics_.cells;
    const double gap = cells ? 1 : 8;
    fields_.left = std::min(widest_of(metrics_, rows_), cells ? 20.0 : 160.0) + gap;
    if (!ylabel_.empty() && !cells) fields_.left += metrics_.line + 4;
    fields_.top = (title_.empty() ? 0
                   : cells        ? 1
                                  : 1.5 * metrics_.line) +
                  (ylabel_.empty() || !cells ? 0 : 1) + (cells ? 0 : 6);
    std::vector<std::string> texts;
    for (const double value : matrix_.values) texts.push_back(number_text(value));
    const double gap_between = cells ? 1 : 10, most_name = cells ? 10 : 80;
    const double needed = widest_of(metrics_, texts) + gap_between;
    const double named = std::min(widest_of(metrics_, columns_), most_name) + gap_between;
    const double most = size.width > 0 ? size.width : cells ? 80 : 640;
    const double room = (most - fields_.left - gap) / static_cast<double>(matrix_.columns);
    fields_.numbers = (numbers.is_null() || numbers.as_bool()) && needed <= std::max(room, 1.0);
    fields_.width = fields_.numbers ? std::max(needed, cells ? 3.0 : 36.0) : cells ? 2 : 28;
    fields_.width = std::max(cells ? 1.0 : 2.0, std::min(std::max(fields_.width, named), room));
    if (cells) fields_.width = std::floor(fields_.width);
    fields_.height =
        cells ? 1
              : std::max(fields_.numbers ? metrics_.line + 6 : 2.0, std::min(fields_.width, 48.0));
    const double below = 1.3 * metrics_.line + (xlabel_.empty() ? 0 : metrics_.line);
    scene_.width = fields_.left + fields_.width * static_cast<double>(matrix_.columns) + gap;
    scene_.height = fields_.top + fields_.height * static_cast<double>(matrix_.rows) +
                    (cells ? std::floor(below) : below);
    if (const double wide = metrics_.width(title_, 1.2); wide > scene_.width)
      scene_.width = std::min(most, wide);
  }

  Point corner(size_t row, size_t column) const {
    return {fields_.left + static_cast<double>(column) * fields_.width,
            fields_.top + static_cast<double>(row) * fields_.height};
  }

  void draw_fields() {
    for (size_t row = 0; row < matrix_.rows; ++row)
      for (size_t column = 0; column < matrix_.columns; ++column) draw_field(row, column);
  }

  void draw_field(size_t row, size_t column) {
    const double value = matrix_.at(row, column);
    const Color color = color_of(matrix_, value);
    const Point at = corner(row, column);
    scene_.elements.push_back(
        Box{.at = at, .width = fields_.width, .height = fields_.height, .fill = color});
    if (fields_.numbers)
      scene_.elements.push_back(Text{.at = {at.x + fields_.width / 2, at.y + fields_.height / 2},
                                     .text = number_text(value),
                                     .anchor = Anchor::middle,
                                     .color = readable_on(color)});
  }

  void draw_names() {
    const double gap = metrics_.cells ? 1 : 6;
    double free = -1;
    for (size_t row = 0; row < matrix_.rows; ++row) {
      const double middle = corner(row, 0).y + fields_.height / 2;
      if (middle - metrics_.line / 2 < free) continue;
      free = middle + metrics_.line / 2;
      scene_.elements.push_back(Text{.at = {fields_.left - gap, middle},
                                     .text = fitted_text(metrics_, rows_[row], fields_.left - gap),
                                     .anchor = Anchor::end});
    }
    draw_column_names();
  }

  /// Names that have no room are cut, or left out where nothing of them would remain.
  void draw_column_names() {
    const double middle = corner(matrix_.rows, 0).y + metrics_.line * (metrics_.cells ? 0.5 : 0.65);
    double free = 0;
    for (size_t column = 0; column < matrix_.columns; ++column) {
      const double left = corner(0, column).x;
      const double room = std::max(fields_.width - (metrics_.cells ? 1 : 4), metrics_.width("00"));
      const std::string text = fitted_text(metrics_, columns_[column], room);
      const double begin = left + (fields_.width - metrics_.width(text)) / 2;
      if (begin < free) continue;
      free = begin + metrics_.width(text) + (metrics_.cells ? 1 : 4);
      scene_.elements.push_back(
          Text{.at = {left + fields_.width / 2, middle}, .text = text, .anchor = Anchor::middle});
    }
  }

  void draw_titles() {
    const double middle = fields_.left + fields_.width * static_cast<double>(matrix_.columns) / 2;
    if (!title_.empty())
      scene_.elements.push_back(Text{.at = {scene_.width / 2, metrics_.cells ? 0.5 : metrics_.line},
                                     .text = fitted_text(metrics_, title_, scene_.width / 1.2),
                                     .anchor = Anchor::middle,
                                     .size = 1.2,
                                     .bold = true});
    if (!xlabel_.empty())
      scene_.elements.push_back(Text{.at = {middle, scene_.height - metrics_.line / 2},
                                     .text = fitted_text(metrics_, xlabel_, scene_.width),
                                     .anchor = Anchor::middle});
    if (ylabel_.empty()) return;
    if (metrics_.cells)
      scene_.elements.push_back(Text{.at = {0, fields_.top - 0.5}, .text = ylabel_});
    else
      scene_.elements.push_back(
          Text{.at = {metrics_.line / 2 + 2, corner(matrix_.rows, 0).y / 2 + fields_.top / 2},
               .text = ylabel_,
               .anchor = Anchor::middle,
               .upright = true});
  }

  const Metrics& metrics_;
  Matrix matrix_;
  std::vector<std::string> rows_, columns_;
  std::string title_, xlabel_, ylabel_;
  Fields fields_;
  Scene scene_;
};

}  // namespace

Scene layout_heatmap(const Dict& figure, const Metrics& metrics, Size size) {
  return HeatmapLayout(figure, metrics, size).run();
}

}  // namespace crescent::pictures
