#include "targets/raster.h"

#include <algorithm>
#include <cmath>

#include "crescent/base/error.h"
#include "targets/fonts.h"

namespace crescent::pictures {
namespace {

constexpr double kFontSize = 13;  // equal to the default of Metrics::size
constexpr int64_t kMaxSide = 30000;
// number of segments of a line that are filled together, as one outline
constexpr size_t kSegmentsPerFill = 200;
constexpr double kDashLength = 6, kGapLength = 4;

FT_Vector fixed_point(double x, double y) { return {std::lround(x * 64), std::lround(y * 64)}; }

class Canvas {
 public:
  Canvas(double width, double height, double scale) : scale_(scale) {
    raster_.columns = std::max<int64_t>(1, std::llround(std::ceil(width * scale)));
    raster_.rows = std::max<int64_t>(1, std::llround(std::ceil(height * scale)));
    if (raster_.columns > kMaxSide || raster_.rows > kMaxSide)
      fail("a picture of ", raster_.columns, " x ", raster_.rows, " pixels; at most ", kMaxSide,
           " a side are drawn; a name that ends in .svg has no such bound");
    raster_.rgb.assign(static_cast<size_t>(3 * raster_.rows * raster_.columns), 255);
  }

  void draw(const Box& box) {
    const Point to{box.at.x + box.width, box.at.y + box.height};
    if (box.fill) fill({{box.at, {to.x, box.at.y}, to, {box.at.x, to.y}}}, *box.fill);
    if (box.edge)
      draw(Line{.points = {box.at, {to.x, box.at.y}, to, {box.at.x, to.y}, box.at},
                .color = *box.edge,
                .dashed = box.dashed});
  }

  void draw(const Line& line) {
    std::vector<std::vector<Point>> pieces;
    for (const auto& [from, to] : segments(line)) {
      pieces.push_back(outline_of_segment(from, to, line.width / 2));
      if (line.width > 1.5) pieces.push_back(circle_polygon(to, line.width / 2));
    }
    for (size_t i = 0; i < pieces.size(); i += kSegmentsPerFill)
      fill({pieces.begin() + static_cast<std::ptrdiff_t>(i),
            pieces.begin() +
                static_cast<std::ptrdiff_t>(std::min(i + kSegmentsPerFill, pieces.size()))},
           line.color);
    if (line.has_arrow) fill({arrow_head(line)}, line.color);
  }

  void draw(const Dots& dots) {
    for (const Point& p : dots.points) fill({circle_polygon(p, dots.radius)}, dots.color);
  }

  /// Draws a bitmap. It is magnified by repeating pixels, or reduced by averaging them.
  void draw(const Bitmap& bitmap) {
    const int64_t top = std::llround(bitmap.at.y * scale_),
                  left = std::llround(bitmap.at.x * scale_);
    const int64_t rows = std::max<int64_t>(1, std::llround(bitmap.height * scale_)),
                  columns = std::max<int64_t>(1, std::llround(bitmap.width * scale_));
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x)
        set(left + x, top + y, mean_color(bitmap, x, y, columns, rows));
  }

  void draw(const Text& text) {
    FT_Face face = font(text.bold);
    const double size = kFontSize * text.size * scale_;
    FT_Set_Char_Size(face, 0, std::lround(size * 64), 72, 72);
    const double width = text_width(face, text.text);
    const double offset = text.anchor == Anchor::start ? 0
                          : text.anchor == Anchor::end ? width
                                                       : width / 2;
    const double baseline_offset = 0.36 * size;
    double pen_x = -offset;
    for (const char32_t letter : code_points(text.text)) {
      if (FT_Load_Char(face, letter, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP) != 0) continue;
      FT_Outline outline = face->glyph->outline;
      if (text.upright) turn_left(outline);
      const double x = text.at.x * scale_ + (text.upright ? baseline_offset : pen_x),
                   y = text.at.y * scale_ + (text.upright ? -pen_x : baseline_offset);
      const FT_Vector origin = fixed_point(x, static_cast<double>(raster_.rows) - y);
      FT_Outline_Translate(&outline, origin.x, origin.y);
      render(outline, text.color);
      pen_x += static_cast<double>(face->glyph->linearHoriAdvance) / 65536;
    }
  }

  Raster take_raster() { return std::move(raster_); }

 private:
  using Segment = std::pair<Point, Point>;

  /// The segments of a line; for a dashed line, its dashes.
  static std::vector<Segment> segments(const Line& line) {
    std::vector<Segment> result;
    double dash_position = 0;  // position in the pattern of dashes
    for (size_t i = 1; i < line.points.size(); ++i) {
      const Point from = line.points[i - 1], to = line.points[i];
      if (line.dashed)
        dash_position = add_dashes(result, from, to, dash_position);
      else
        result.push_back({from, to});
    }
    return result;
  }

  static double add_dashes(std::vector<Segment>& dashes, Point from, Point to,
                           double dash_position) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const auto point_at = [&](double d) {
      return Point{from.x + (to.x - from.x) * d / length, from.y + (to.y - from.y) * d / length};
    };
    for (double dashed_length = 0; dashed_length < length;) {
      const bool is_dash = dash_position < kDashLength;
      const double step =
          std::min((is_dash ? kDashLength : kDashLength + kGapLength) - dash_position,
                   length - dashed_length);
      if (is_dash) dashes.push_back({point_at(dashed_length), point_at(dashed_length + step)});
      dashed_length += step;
      dash_position += step;
      if (dash_position >= kDashLength + kGapLength - 1e-9) dash_position = 0;
    }
    return dash_position;
  }

  static std::vector<Point> outline_of_segment(Point from, Point to, double radius) {
    const double length = std::max(std::hypot(to.x - from.x, to.y - from.y), 1e-9);
    const double x = (to.x - from.x) / length * radius, y = (to.y - from.y) / length * radius;
    return {{from.x - y, from.y + x},
            {from.x + y, from.y - x},
            {to.x + y, to.y - x},
            {to.x - y, to.y + x}};
  }

  static std::vector<Point> circle_polygon(Point middle, double radius) {
    std::vector<Point> points;
    for (int i = 0; i < 12; ++i) {
      const double angle = i * M_PI / 6;
      points.push_back({middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)});
    }
    return points;
  }

  /// Fills the union of polygons.
  void fill(const std::vector<std::vector<Point>>& polygons, Color color) {
    std::vector<FT_Vector> points;
    std::vector<short> contour_ends;
    for (const std::vector<Point>& polygon : polygons) {
      const bool is_positive = signed_area(polygon) > 0;
      for (size_t i = 0; i < polygon.size(); ++i)
        points.push_back(freetype_point(polygon[is_positive ? i : polygon.size() - 1 - i]));
      contour_ends.push_back(static_cast<short>(points.size() - 1));
    }
    std::vector<char> tags(points.size(), FT_CURVE_TAG_ON);
    FT_Outline outline{static_cast<short>(contour_ends.size()),
                       static_cast<short>(points.size()),
                       points.data(),
                       tags.data(),
                       contour_ends.data(),
                       0};
    render(outline, color);
  }

  /// The signed area of a polygon. All polygons are filled with the same orientation, because
  /// overlaps of polygons with different orientations would not be filled.
  static double signed_area(const std::vector<Point>& polygon) {
    double sum = 0;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
      sum += a.x * b.y - a.y * b.x;
    }
    return sum;
  }

  /// Converts a point to FreeType's coordinates, whose y axis points upwards.
  FT_Vector freetype_point(Point p) const {
    return fixed_point(p.x * scale_, static_cast<double>(raster_.rows) - p.y * scale_);
  }

  void render(FT_Outline& outline, Color color) {
    Brush brush{this, color};
    FT_Raster_Params params{};
    params.flags = FT_RASTER_FLAG_AA | FT_RASTER_FLAG_DIRECT | FT_RASTER_FLAG_CLIP;
    params.gray_spans = paint_spans;
    params.user = &brush;
    params.clip_box = {0, 0, raster_.columns, raster_.rows};
    if (FT_Outline_Render(font_library(), &outline, &params) != 0)
      fail("FreeType could not draw an outline");
  }

  struct Brush {
    Canvas* canvas;
    Color color;
  };

  static void paint_spans(int y, int count, const FT_Span* spans, void* user) {
    const auto& brush = *static_cast<Brush*>(user);
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < spans[i].len; ++k)
        brush.canvas->blend(spans[i].x + k, brush.canvas->raster_.rows - 1 - y, brush.color,
                            spans[i].coverage);
  }

  uint8_t* pixel(int64_t x, int64_t y) {
    const bool is_inside = x >= 0 && y >= 0 && x < raster_.columns && y < raster_.rows;
    return is_inside ? &raster_.rgb[static_cast<size_t>(3 * (y * raster_.columns + x))] : nullptr;
  }

  void set(int64_t x, int64_t y, Color color) { blend(x, y, color, 255); }

  void blend(int64_t x, int64_t y, Color color, int coverage) {
    uint8_t* rgb = pixel(x, y);
    if (!rgb) return;
    const uint8_t paint[3] = {color.red, color.green, color.blue};
    for (int c = 0; c < 3; ++c)
      rgb[c] = static_cast<uint8_t>((rgb[c] * (255 - coverage) + paint[c] * coverage + 127) / 255);
  }

  /// The mean colour of those pixels of the bitmap that are drawn as pixel (x, y) of a region of
  /// columns x rows pixels.
  static Color mean_color(const Bitmap& bitmap, int64_t x, int64_t y, int64_t columns,
                          int64_t rows) {
    const int64_t left = x * bitmap.columns / columns, top = y * bitmap.rows / rows;
    return mean_of(bitmap, top, left, std::max(top + 1, (y + 1) * bitmap.rows / rows),
                   std::max(left + 1, (x + 1) * bitmap.columns / columns));
  }

  static void turn_left(FT_Outline& outline) {
    const FT_Matrix matrix{0, -0x10000, 0x10000, 0};
    FT_Outline_Transform(&outline, &matrix);
  }

  Raster raster_;
  double scale_;
};

}  // namespace

Raster raster_of(const Scene& scene, double scale) {
  Canvas canvas(scene.width, scene.height, scale);
  for (const Element& element : scene.elements)
    std::visit([&](const auto& shape) { canvas.draw(shape); }, element);
  return canvas.take_raster();
}

}  // namespace crescent::pictures
