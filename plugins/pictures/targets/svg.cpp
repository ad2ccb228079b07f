#include "targets/svg.h"

#include <cmath>
#include <cstdio>

#include "crescent/base/error.h"
#include "targets/base64.h"
#include "targets/png.h"

namespace crescent::pictures {
namespace {

constexpr double kSvgFontSize = 13;  // equal to the default of Metrics::size

std::string format_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  std::string short_text = text;
  while (short_text.back() == '0') short_text.pop_back();
  if (short_text.back() == '.') short_text.pop_back();
  return short_text == "-0" ? "0" : short_text;
}

std::string hex_color(Color c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

std::string escape_xml(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string attribute(const char* name, const std::string& value) {
  return concat(" ", name, "=\"", value, "\"");
}
std::string attribute(const char* name, double value) {
  return attribute(name, format_number(value));
}

std::string dash_attribute(bool is_dashed) {
  return is_dashed ? attribute("stroke-dasharray", "6 4") : "";
}

std::string write(const Box& box) {
  return concat(
      "<rect", attribute("x", box.at.x), attribute("y", box.at.y), attribute("width", box.width),
      attribute("height", box.height), attribute("fill", box.fill ? hex_color(*box.fill) : "none"),
      box.edge ? attribute("stroke", hex_color(*box.edge)) : "", dash_attribute(box.dashed), "/>");
}

/// The arrow head at the last point of the line.
std::string write_arrow_head(const Line& line) {
  const std::vector<Point> head_points = arrow_head(line);
  std::string points_text;
  for (const Point& p : head_points)
    points_text += concat(format_number(p.x), ",", format_number(p.y), " ");
  return concat("<polygon", attribute("points", points_text),
                attribute("fill", hex_color(line.color)), "/>");
}

std::string write(const Line& line) {
  std::string points_text;
  for (const Point& p : line.points)
    points_text +=
        concat(points_text.empty() ? "" : " ", format_number(p.x), ",", format_number(p.y));
  return concat("<polyline", attribute("points", points_text), attribute("fill", "none"),
                attribute("stroke", hex_color(line.color)), attribute("stroke-width", line.width),
                attribute("stroke-linejoin", "round"), dash_attribute(line.dashed), "/>",
                line.has_arrow ? write_arrow_head(line) : "");
}

std::string write(const Dots& dots) {
  std::string text = concat("<g", attribute("fill", hex_color(dots.color)), ">");
  for (const Point& p : dots.points)
    text += concat("<circle", attribute("cx", p.x), attribute("cy", p.y),
                   attribute("r", dots.radius), "/>");
  return text + "</g>";
}

std::string write(const Bitmap& bitmap) {
  const std::string png = encode_png(bitmap.rgb, bitmap.rows, bitmap.columns);
  return concat("<image", attribute("x", bitmap.at.x), attribute("y", bitmap.at.y),
                attribute("width", bitmap.width), attribute("height", bitmap.height),
                attribute("preserveAspectRatio", "none"),
                attribute("style", "image-rendering:pixelated"),
                attribute("xlink:href", "data:image/png;base64," + base64(png)), "/>");
}

/// The distance of the baseline from the middle of the text line.
double baseline(const Text& text) { return 0.36 * kSvgFontSize * text.size; }

std::string write(const Text& text) {
  const char* anchor = text.anchor == Anchor::start    ? "start"
                       : text.anchor == Anchor::middle ? "middle"
                                                       : "end";
  const double baseline_offset = baseline(text);
  const std::string rotation =
      text.upright ? attribute("transform", concat("rotate(-90 ", format_number(text.at.x), " ",
                                                   format_number(text.at.y), ")"))
                   : "";
  return concat("<text", attribute("x", text.at.x), attribute("y", text.at.y + baseline_offset),
                attribute("font-size", kSvgFontSize * text.size), attribute("text-anchor", anchor),
                attribute("fill", hex_color(text.color)),
                text.bold ? attribute("font-weight", "bold") : "", rotation, ">",
                escape_xml(text.text), "</text>");
}

}  // namespace

std::string svg_of(const Scene& scene) {
  std::string text = concat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "xmlns:xlink=\"http://www.w3.org/1999/xlink\"",
      attribute("width", scene.width), attribute("height", scene.height),
      attribute("viewBox",
                concat("0 0 ", format_number(scene.width), " ", format_number(scene.height))),
      attribute("font-family", "DejaVu Sans, Verdana, sans-serif"), ">\n<rect",
      attribute("width", "100%"), attribute("height", "100%"), attribute("fill", "white"), "/>\n");
  for (const Element& element : scene.elements)
    text += std::visit([](const auto& shape) { return write(shape); }, element) + "\n";
  return text + "</svg>\n";
}

}  // namespace crescent::pictures
