#include "figure.h"

#include "crescent/registry/registry.h"

namespace crescent::pictures {
namespace {

struct Layout {
  const char* kind;
  Scene (*run)(const Dict&, const Metrics&, Size);
};

constexpr Layout kLayouts[] = {{"axes", layout_axes},
                               {"sparkline", layout_sparkline},
                               {"images", layout_images},
                               {"heatmap", layout_heatmap},
                               {"graph", layout_graph}};

}  // namespace

Scene layout(const Dict& figure, const Metrics& metrics, Size size) {
  const std::string& kind = figure.at("kind").as_string();
  std::vector<std::string> known_kinds;
  for (const Layout& candidate : kLayouts) {
    if (candidate.kind == kind) return candidate.run(figure, metrics, size);
    known_kinds.push_back(candidate.kind);
  }
  fail("unknown kind of figure '", kind, "'", did_you_mean(kind, known_kinds));
}

}  // namespace crescent::pictures
