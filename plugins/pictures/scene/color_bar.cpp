#include "scene/color_bar.h"

#include <algorithm>

namespace crescent::pictures {
namespace {

constexpr int kMaxTicks = 5;
constexpr int64_t kColorCount = 64;

double gap_of(const Metrics& metrics) { return metrics.in_cells ? 1 : 12; }
double strip_width(const Metrics& metrics) { return metrics.in_cells ? 2 : 14; }
double text_gap(const Metrics& metrics) { return metrics.in_cells ? 1 : 5; }

}  // namespace

ColorBar::ColorBar(const Range& range, Color (*color)(double share))
    : range_(range), ticks_(ticks_in(range, kMaxTicks)), color_(color) {}

double ColorBar::width(const Metrics& metrics) const {
  double text_width = 0;
  for (const std::string& text : ticks_.texts)
    text_width = std::max(text_width, metrics.width(text));
  return gap_of(metrics) + strip_width(metrics) + text_gap(metrics) + text_width;
}

/// The colours as a bitmap of one pixel per colour, from the top to the bottom.
Bitmap ColorBar::strip() const {
  Bitmap strip;
  strip.rows = kColorCount, strip.columns = 1;
  for (int64_t i = 0; i < kColorCount; ++i) {
    const Color color = color_(1 - static_cast<double>(i) / (kColorCount - 1));
    strip.rgb.insert(strip.rgb.end(), {color.red, color.green, color.blue});
  }
  return strip;
}

void ColorBar::draw(Scene& scene, const Metrics& metrics, Point at, double height) const {
  const double left = at.x + gap_of(metrics);
  Bitmap bar = strip();
  bar.at = {left, at.y};
  bar.width = strip_width(metrics), bar.height = height;
  scene.elements.push_back(std::move(bar));
  // The upper end of the label that was drawn last; labels are drawn from the bottom to the top.
  double free_y = at.y + height;
  for (size_t i = 0; i < ticks_.values.size(); ++i) {
    const double share = range_.share(ticks_.values[i]);
    const double half_line_height = std::min(metrics.line_height, height) / 2;
    const double middle = std::clamp(at.y + height * (1 - share), at.y + half_line_height,
                                     at.y + height - half_line_height);
    if (middle + half_line_height > free_y + 1e-9) continue;
    free_y = middle - half_line_height;
    scene.elements.push_back(Text{.at = {left + strip_width(metrics) + text_gap(metrics), middle},
                                  .text = ticks_.texts[i]});
  }
}

}  // namespace crescent::pictures
