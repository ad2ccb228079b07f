#include "scene/frame.h"

#include <algorithm>
#include <cmath>

#include "scene/title.h"

namespace crescent::pictures {
namespace {

constexpr double kTickLength = 5;  // length of a tick in pixels

double max_width_of(const Metrics& metrics, const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, metrics.width(text));
  return width;
}

/// The distance of an axis from the plot area. In a terminal an axis takes the middle of a cell.
double axis_distance(const Metrics& metrics) { return metrics.in_cells ? 0.5 : 0; }
double tick_length(const Metrics& metrics) { return metrics.in_cells ? 0.5 : kTickLength; }

void add_rule(Scene& scene, Point from, Point to, Color color = kInk) {
  scene.elements.push_back(Line{.points = {from, to}, .color = color, .is_rule = true});
}

}  // namespace

Point Frame::at(long double x_value, long double y_value) const {
  return {area_.left + inset_.x + x.share(x_value) * (area_.width() - 2 * inset_.x),
          area_.bottom - inset_.y - y.share(y_value) * (area_.height() - 2 * inset_.y)};
}

Point Frame::bar_corner(long double x_value, long double y_value) const {
  return {area_.left + x.share(x_value) * area_.width(),
          area_.bottom - y.share(y_value) * area_.height()};
}

double Frame::draw_title(Scene& scene, const Metrics& metrics) const {
  const double margin = metrics.in_cells ? 0 : 8;
  if (title.empty()) return margin;
  const double title_height = metrics.in_cells ? 1 : 1.3 * metrics.line_height;
  scene.elements.push_back(
      title_text(metrics, title, {scene.width / 2, margin + title_height / 2}, scene.width));
  return margin + title_height;
}

/// Draws legend entries side by side, in as many lines as they need; returns the lower end of the
/// last line.
double Frame::draw_legend(Scene& scene, const Metrics& metrics, double top) const {
  if (legend.empty()) return top;
  const double sample_width = metrics.in_cells ? 2 : 22, gap = metrics.in_cells ? 1 : 6;
  const double first_left = metrics.in_cells ? 2 : 56;
  double left = first_left;
  for (const LegendEntry& item : legend) {
    const std::string text =
        fitted_text(metrics, item.label, scene.width - first_left - sample_width - gap);
    const double width = sample_width + gap + metrics.width(text);
    if (left > first_left && left + width > scene.width)
      left = first_left, top += metrics.line_height;
    const double middle = top + metrics.line_height / 2;
    const double end = left + sample_width - axis_distance(metrics);
    scene.elements.push_back(Line{.points = {{left, middle}, {end, middle}},
                                  .color = series_color(item.color),
                                  .width = 2.5,
                                  .dashed = item.dashed,
                                  .series_index = item.series_index});
    scene.elements.push_back(Text{.at = {left + sample_width + gap, middle}, .text = text});
    left += width + (metrics.in_cells ? 3 : 20);
  }
  return top + metrics.line_height;
}

void Frame::choose_area(const Scene& scene, const Metrics& metrics, double top) {
  const bool in_cells = metrics.in_cells;
  if (in_cells && !ylabel.empty()) top += metrics.line_height;
  const double height_below = (in_cells ? 2 : metrics.line_height + kTickLength + 6) +
                              (xlabel.empty() ? 0
                               : in_cells     ? 1
                                              : metrics.line_height + 2);
  area_.top = top + (in_cells ? 0 : 6);
  area_.bottom = std::max(area_.top + metrics.line_height, scene.height - height_below);
  y_ticks_ = ticks_in(
      y, static_cast<int>(area_.height() / (in_cells ? 3 : 2.2 * metrics.line_height)) + 1);
  const double left =
      max_width_of(metrics, y_ticks_.texts) +
      (in_cells ? 2 : kTickLength + 12 + (ylabel.empty() ? 0 : metrics.line_height));
  area_.right = scene.width - (in_cells ? 1 : 16);
  area_.left = std::min(left, area_.right - (in_cells ? 2 : 10));
  columns = 2 * scene.width;
  // In a terminal, points keep a distance of half a dot of a Braille character from the edges.
  if (in_cells) inset_ = {0.25, 0.125};
  const double label_width =
      max_width_of(metrics, ticks_in(x, 5, has_integer_x).texts) + (in_cells ? 3 : 24);
  x_ticks_ = ticks_in(x, std::max(1, static_cast<int>(area_.width() / label_width)), has_integer_x);
}

void Frame::draw_x_ticks(Scene& scene, const Metrics& metrics) const {
  const double axis_y = area_.bottom + axis_distance(metrics), length = tick_length(metrics);
  double free_x = -1;
  for (size_t i = 0; i < x_ticks_.values.size(); ++i) {
    double position = at(x_ticks_.values[i], 0).x;
    if (metrics.in_cells) position = std::min(std::floor(position), area_.right - 1) + 0.5;
    if (!metrics.in_cells) add_rule(scene, {position, area_.top}, {position, axis_y}, kGrid);
    add_rule(scene, {position, axis_y}, {position, axis_y + length});
    const double width = metrics.width(x_ticks_.texts[i]);
    double left = std::min(position - width / 2, scene.width - width);
    if (metrics.in_cells) left = std::floor(left + 0.5);
    if (left < free_x) continue;
    free_x = left + width + (metrics.in_cells ? 1 : 4);
    const double middle =
        metrics.in_cells ? axis_y + 1 : axis_y + length + 4 + metrics.line_height / 2;
    scene.elements.push_back(Text{.at = {left, middle}, .text = x_ticks_.texts[i]});
  }
}

void Frame::draw_y_ticks(Scene& scene, const Metrics& metrics) const {
  const double axis_x = area_.left - axis_distance(metrics), length = tick_length(metrics);
  for (size_t i = 0; i < y_ticks_.values.size(); ++i) {
    double position = at(0, y_ticks_.values[i]).y;
    if (metrics.in_cells) position = std::min(std::floor(position), area_.bottom - 1) + 0.5;
    if (!metrics.in_cells) add_rule(scene, {axis_x, position}, {area_.right, position}, kGrid);
    add_rule(scene, {axis_x - length, position}, {axis_x, position});
    const double right = axis_x - length - (metrics.in_cells ? 0 : 4);
    scene.elements.push_back(
        Text{.at = {right, position}, .text = y_ticks_.texts[i], .anchor = Anchor::end});
  }
}

/// Draws the titles of the axes. In a terminal, which has no vertical text, both are horizontal.
void Frame::draw_labels(Scene& scene, const Metrics& metrics) const {
  const double middle = area_.left + area_.width() / 2;
  if (!xlabel.empty())
    scene.elements.push_back(
        Text{.at = {middle, scene.height - metrics.line_height / 2 - (metrics.in_cells ? 0 : 4)},
             .text = fitted_text(metrics, xlabel, area_.width()),
             .anchor = Anchor::middle});
  if (ylabel.empty()) return;
  const std::string text =
      fitted_text(metrics, ylabel, metrics.in_cells ? scene.width : area_.height());
  if (metrics.in_cells)
    scene.elements.push_back(Text{.at = {0, area_.top - 0.5}, .text = text});
  else
    scene.elements.push_back(
        Text{.at = {metrics.line_height / 2 + 4, area_.top + area_.height() / 2},
             .text = text,
             .anchor = Anchor::middle,
             .upright = true});
}

void Frame::draw_background(Scene& scene, const Metrics& metrics) {
  choose_area(scene, metrics, draw_legend(scene, metrics, draw_title(scene, metrics)));
  draw_x_ticks(scene, metrics);
  draw_y_ticks(scene, metrics);
  draw_labels(scene, metrics);
}

void Frame::draw_foreground(Scene& scene, const Metrics& metrics) const {
  const double gap = axis_distance(metrics), left = area_.left - gap, bottom = area_.bottom + gap;
  add_rule(scene, {left, area_.top}, {left, bottom});
  add_rule(scene, {left, bottom}, {area_.right, bottom});
}

}  // namespace crescent::pictures
