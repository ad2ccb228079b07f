// Figures: what is to be drawn, described by a Dict (crescent/io/picture.h), laid out as scenes.
//
// Of every figure: "kind", "title". An entry that is absent or null is not drawn.
//   axes    "xlabel", "ylabel", "whole" (whether x are counts), "from" (the first x where none are
//           given, 0), "series": each "y", "x", "label", "dashed", "color" (a number), "style"
//           ("line", "points", "bars", or "histogram" of the values y in "bins" intervals)
//   sparkline  "values"
//   images  "pixels" (images, height, width, 1|3|4) of uint8, or of numbers from 0 to 1; "columns",
//           how many stand side by side; "labels", a text for each image; "gap" in pixels; "range",
//           the numbers that are black and white, for a bar of grays; "legend": each "label",
//           "color"
//   heatmap "values" (rows, columns); "xlabel", "ylabel", "rows", "columns" (texts), "numbers",
//           "colorbar"
//   graph   graph/graph.h
#pragma once
#include "crescent/base/value.h"
#include "scene/scene.h"

namespace crescent::pictures {

/// The requested size of a scene; the layout may choose a width or height that is 0.
struct Size {
  double width = 0, height = 0;
  bool is_limit = false;  ///< whether the result may also be smaller
};

/// Lays out a figure as a scene; fails for an unknown kind of figure.
Scene layout(const Dict& figure, const Metrics& metrics, Size size);

Scene layout_axes(const Dict& figure, const Metrics& metrics, Size size);
Scene layout_sparkline(const Dict& figure, const Metrics& metrics, Size size);
Scene layout_images(const Dict& figure, const Metrics& metrics, Size size);
Scene layout_heatmap(const Dict& figure, const Metrics& metrics, Size size);
Scene layout_graph(const Dict& figure, const Metrics& metrics, Size size);

}  // namespace crescent::pictures
