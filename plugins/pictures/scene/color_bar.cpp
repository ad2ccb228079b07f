#include "scene/color_bar.h"

#include <algorithm>

namespace crescent::pictures {
namespace {

constexpr int kMaxTicks = 5;
constexpr int64_t kSteps = 64;  // number of different colours

double gap_of(const Metrics& metrics) { return metrics.in_cells ? 1 : 12; }
double strip_width(const Metrics& metrics) { return metrics.in_cells ? 2 : 14; }
double text_gap(const Metrics& metrics) { return metrics.in_cells ? 1 : 5; }

}  // namespace

ColorBar::ColorBar(const Range& range, Color (*color)(double share))
    : range_(range), ticks_(ticks_in(range, kMaxTicks)), color_(color) {}

double ColorBar::width(const Metrics& metrics) const {
  double texts = 0;
  for (const std::string& text : ticks_.texts) texts = std::max(texts, metrics.width(text));
  return gap_of(metrics) + strip_width(metrics) + text_gap(metrics) + texts;
}

/// The colours as a bitmap of one pixel per colour, from the top to the bottom.
Bitmap ColorBar::strip() const {
  Bitmap strip;
  strip.rows = kSteps, strip.columns = 1;
  for (int64_t i = 0; i < kSteps; ++i) {
    const Color color = color_(1 - static_cast<double>(i) / (kSteps - 1));
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
    const double half = std::min(metrics.line, height) / 2;
    const double middle =
        std::clamp(at.y + height * (1 - share), at.y + half, at.y + height - half);
    if (middle + half > free_y + 1e-9) continue;
    free_y = middle - half;
    scene.elements.push_back(Text{.at = {left + strip_width(metrics) + text_gap(metrics), middle},
                                  .text = ticks_.texts[i]});
  }
}

}  // namespace crescent::pictures
