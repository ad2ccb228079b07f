#include <cmath>
#include <numbers>
#include <vector>

#include "crescent/layer/operation.h"
#include "crescent/plugin.h"

/// Data that is computed is a function that gives tensors, here (samples, 2) points and their
/// classes. Data in files is a format (crescent new-plugin --kind format).
static std::tuple<crescent::Tensor, crescent::Tensor> make_points(int64_t samples, double turns) {
  std::vector<float> points;
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < samples; ++i) {
    const double radius = static_cast<double>(i + 1) / static_cast<double>(samples);
    const double angle = 2 * std::numbers::pi * turns * radius + std::numbers::pi * (i % 2);
    points.push_back(static_cast<float>(radius * std::cos(angle)));
    points.push_back(static_cast<float>(radius * std::sin(angle)));
    classes.push_back(static_cast<int32_t>(i % 2));
  }
  return {crescent::Tensor::from(points, {samples, 2}), crescent::Tensor::from(classes, {samples})};
}

CRESCENT_PLUGIN("acme.spirals", "0.1.0") {
  crescent::Operations(registry, "acme")
      .add("Spirals", "spirals(samples, turns=1.0)", make_points,
           "Points on two curves, and their classes.");
}
