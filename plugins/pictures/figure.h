// Figures: what is to be drawn, described by a Dict (crescent/io/picture.h), laid out as scenes.
//
// Every figure has the entries "kind" and "title". Entries that are absent or null are not drawn.
// The other entries, by kind:
//   axes    "xlabel", "ylabel"; "whole": whether x values are integers; "from": the first x of
//           series without "x" (default 0); "series": a list, each with "y", "x", "label",
//           "dashed", "color" (a number) and "style": "line", "points", "bars", or "histogram",
//           which counts the values y in "bins" intervals
//   sparkline  "values"
//   images  "pixels": (images, height, width, 1|3|4), uint8 or numbers from 0 to 1; "columns": the
//           number of images per row; "labels": a text for each image; "gap": in pixels; "range":
//           the two numbers that are shown as black and as white, for a bar of grays; "legend": a
//           list, each with "label" and "color"
//   heatmap "values": (rows, columns); "xlabel", "ylabel"; "rows", "columns": lists of texts;
//           "numbers", "colorbar": whether these are drawn
//   graph   see graph/graph.h
#pragma once
#include "crescent/base/value.h"
#include "scene/scene.h"

namespace crescent::pictures {

/// The requested size of a scene. Where the width or the height is 0, the layout chooses it.
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
