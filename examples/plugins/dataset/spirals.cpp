#include <cmath>
#include <numbers>
#include <vector>

#include "crescent/data/stream.h"
#include "crescent/plugin.h"

/// A dataset of points on two curves around a center, and their classes. Lua makes the object by
/// cr.data.Spirals { samples = 200 }; its method stream() gives the points and classes. To read a
/// file or a device while the stream is consumed, make the stream by crescent::generated. To add a
/// file format, write a plugin of kind format instead (crescent new-plugin --kind format).
struct Spirals : crescent::Plain {
  static constexpr const char* kKind = "dataset";
  int64_t samples = 200;
  double turns = 1;

  static void describe(crescent::Schema<Spirals>& s) {
    s.doc("Points on two curves, and their classes.")
        .field("samples", &Spirals::samples, "How many points.")
        .min(2)
        .field("turns", &Spirals::turns, "How often a curve goes around.")
        .method("stream", &Spirals::stream, "The points, one after another.");
  }

  crescent::Value stream() {
    std::vector<float> points;
    std::vector<int32_t> classes;
    for (int64_t i = 0; i < samples; ++i) {
      const double radius = static_cast<double>(i + 1) / static_cast<double>(samples);
      const double angle = 2 * std::numbers::pi * turns * radius + std::numbers::pi * (i % 2);
      points.push_back(static_cast<float>(radius * std::cos(angle)));
      points.push_back(static_cast<float>(radius * std::sin(angle)));
      classes.push_back(static_cast<int32_t>(i % 2));
    }
    using crescent::BoxedTensor, crescent::Tensor;
    return crescent::slices({std::make_shared<BoxedTensor>(Tensor::from(points, {samples, 2})),
                             std::make_shared<BoxedTensor>(Tensor::from(classes, {samples}))});
  }
};

CRESCENT_PLUGIN("acme.spirals", "0.1.0") { registry.add<Spirals>("Spirals"); }
