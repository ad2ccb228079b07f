// The built-in picture formats: svg, png, text, kitty and sixel, and "terminal", which chooses
// among the last three by what the terminal supports.
#include <algorithm>
#include <cmath>

#include "crescent/io/format.h"
#include "crescent/io/picture.h"
#include "crescent/plugin.h"
#include "figure.h"
#include "targets/cells.h"
#include "targets/graphics.h"
#include "targets/png.h"
#include "targets/svg.h"
#include "targets/terminal.h"

namespace crescent::pictures {
namespace {

struct DrawOptions {
  double width = 0, height = 0;
  int64_t colors = 0;
  bool unicode = true;
  double scale = 0;

  static void describe(Schema<DrawOptions>& s) {
    s.doc("The size of a picture, and what its target can show.")
        .field("width", &DrawOptions::width, "In pixels, or columns of text; 0: the usual.")
        .min(0)
        .field("height", &DrawOptions::height, "In pixels, or lines of text; 0: the usual.")
        .min(0)
        .field("colors", &DrawOptions::colors, "Of text: 0, 16, 256 or 16777216.")
        .min(0)
        .field("unicode", &DrawOptions::unicode, "Whether text is more than ASCII.")
        .field("scale", &DrawOptions::scale, "Pixels for each unit of the layout; 0: the usual.")
        .min(0)
        .max(16);
  }
  Size size() const { return {.width = width, .height = height}; }
};

DrawOptions options_in(const Dict& options) {
  return read_options<DrawOptions>(schema_of<DrawOptions>("draw"), options);
}

/// Lays out the figure and draws it as pixels. The size of the layout in units is the requested
/// size in pixels divided by the scale.
Raster pixels_of(const Dict& figure, const DrawOptions& draw_options, double usual_scale = 1) {
  const double scale = draw_options.scale > 0 ? draw_options.scale : usual_scale;
  return raster_of(
      layout(figure, Metrics(),
             {.width = draw_options.width / scale, .height = draw_options.height / scale}),
      scale);
}

class Svg final : public Picture {
 public:
  static void describe(Schema<Svg>& s) { s.doc("Scalable drawings.").trait("ending", ".svg"); }
  std::string draw(const Dict& figure, const Dict& options) override {
    return svg_of(layout(figure, Metrics(), options_in(options).size()));
  }
};

class Png final : public Picture {
 public:
  static void describe(Schema<Png>& s) { s.doc("Pixels as PNG.").trait("ending", ".png"); }
  std::string draw(const Dict& figure, const Dict& options) override {
    const Raster raster = pixels_of(figure, options_in(options), 2);
    return encode_png(raster.rgb, raster.rows, raster.columns);
  }
};

class TextPicture final : public Picture {
 public:
  static void describe(Schema<TextPicture>& s) {
    s.doc("Text, for terminals and files.").trait("ending", ".txt");
  }
  std::string draw(const Dict& figure, const Dict& options) override {
    const DrawOptions draw_options = options_in(options);
    return cells_of(layout(figure, cell_metrics(), draw_options.size()),
                    {static_cast<int>(draw_options.colors), draw_options.unicode});
  }
};

class Kitty final : public Picture {
 public:
  static void describe(Schema<Kitty>& s) { s.doc("Pixels for terminals like kitty."); }
  std::string draw(const Dict& figure, const Dict& options) override {
    return kitty_of(pixels_of(figure, options_in(options)));
  }
};

class Sixel final : public Picture {
 public:
  static void describe(Schema<Sixel>& s) { s.doc("Pixels for terminals with sixel graphics."); }
  std::string draw(const Dict& figure, const Dict& options) override {
    return sixel_of(pixels_of(figure, options_in(options)));
  }
};

constexpr int64_t kMaxColumns = 100;

/// The requested size in cells. By default the width is that of the terminal, but at most
/// kMaxColumns, and the height is that of the terminal without two lines, but at most 20.
Size cells_for(const DrawOptions& draw_options, const Terminal& terminal) {
  const int64_t columns = terminal.columns > 0 ? std::min(terminal.columns, kMaxColumns) : 80;
  const int64_t max_rows = terminal.rows > 0 ? std::max<int64_t>(6, terminal.rows - 2) : 20;
  return {.width = draw_options.width > 0 ? draw_options.width : static_cast<double>(columns),
          .height = draw_options.height > 0 ? draw_options.height
                                            : static_cast<double>(std::min<int64_t>(max_rows, 20))};
}

/// Whether the figure can fill any size; other figures have a natural size.
bool fills_any_size(const Dict& figure) { return figure.at("kind").as_string() == "axes"; }

/// The scene as text. If the terminal has too few columns, the text is cut off, and a note says how
/// many of the columns are shown.
std::string text_on(const Terminal& terminal, const Scene& scene) {
  CellOptions options = terminal.cell_options;
  options.columns = terminal.columns;
  const std::string text = cells_of(scene, options);
  if (terminal.columns == 0 || scene.width <= static_cast<double>(terminal.columns)) return text;
  return concat(text, "(", terminal.columns, " of ", std::ceil(scene.width),
                " columns; a file has all)\n");
}

class TerminalPicture final : public Picture {
 public:
  static void describe(Schema<TerminalPicture>& s) {
    s.doc("What the terminal behind stdout shows best: pixels, or letters.");
  }
  std::string draw(const Dict& figure, const Dict& options) override {
    const DrawOptions draw_options = options_in(options);
    const Terminal terminal = terminal_now();
    Size size = cells_for(draw_options, terminal);
    size.is_limit = !fills_any_size(figure) && draw_options.width == 0 && draw_options.height == 0;
    if (!terminal.supports_kitty && !terminal.supports_sixel)
      return text_on(terminal, layout(figure, cell_metrics(), size));
    size.width *= terminal.cell_width;
    size.height *= terminal.cell_height;
    const Raster raster = raster_of(layout(figure, Metrics(), size));
    return terminal.supports_kitty ? kitty_of(raster) : sixel_of(raster);
  }
};

}  // namespace

CRESCENT_PLUGIN("pictures", CRESCENT_VERSION) {
  registry.add<Svg>("svg");
  registry.add<Png>("png");
  registry.add<TextPicture>("text");
  registry.add<Kitty>("kitty");
  registry.add<Sixel>("sixel");
  registry.add<TerminalPicture>("terminal");
}

}  // namespace crescent::pictures
