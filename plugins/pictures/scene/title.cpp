#include "scene/title.h"

namespace crescent::pictures {
namespace {

constexpr double kTitleScale = 1.2;
constexpr double kBoldWidening = 1.2;  // the largest ratio of the widths of bold and normal letters

double title_widening(const Metrics& metrics) {
  return metrics.in_cells ? 1 : kTitleScale * kBoldWidening;
}

}  // namespace

double title_width(const Metrics& metrics, const std::string& title) {
  return metrics.width(title) * title_widening(metrics);
}

Text title_text(const Metrics& metrics, const std::string& title, Point middle, double width) {
  return {.at = middle,
          .text = fitted_text(metrics, title, width / title_widening(metrics)),
          .anchor = Anchor::middle,
          .size = kTitleScale,
          .bold = true};
}

}  // namespace crescent::pictures
