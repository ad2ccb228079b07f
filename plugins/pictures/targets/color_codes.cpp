// Escape sequences of colours for terminals of 16, 256 and 2^24 colours (ECMA-48, xterm).
#include <array>
#include <climits>

#include "crescent/base/error.h"
#include "targets/cells.h"

namespace crescent::pictures {
namespace {

int color_difference(Color a, int red, int green, int blue) {
  const int r = a.red - red, g = a.green - green, b = a.blue - blue;
  return 2 * r * r + 4 * g * g + 3 * b * b;
}

/// The nearest of the six steps of the colour cube of xterm: 0, 95, 135, ..., 255.
int cube_step(uint8_t value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; }
int cube_value(int step) { return step == 0 ? 0 : 55 + 40 * step; }

int nearest_of_256(Color c) {
  const int r = cube_step(c.red), g = cube_step(c.green), b = cube_step(c.blue);
  const int gray_index = std::clamp(((c.red + c.green + c.blue) / 3 - 3) / 10, 0, 23);
  const int gray_level = 8 + 10 * gray_index;
  const bool is_gray = color_difference(c, gray_level, gray_level, gray_level) <
                       color_difference(c, cube_value(r), cube_value(g), cube_value(b));
  return is_gray ? 232 + gray_index : 16 + 36 * r + 6 * g + b;
}

int nearest_of_16(Color c) {
  int best_code = 0, min_distance = INT_MAX;
  for (int i = 0; i < 16; ++i) {
    const int on_level = i < 8 ? 170 : 255, off_level = i < 8 ? 0 : 85;
    const int color_distance =
        color_difference(c, i & 1 ? on_level : off_level, i & 2 ? on_level : off_level,
                         i & 4 ? on_level : off_level);
    if (color_distance < min_distance) best_code = i, min_distance = color_distance;
  }
  return best_code < 8 ? 30 + best_code : 90 + best_code - 8;
}

}  // namespace

std::string color_code(Color c, bool background, int colors) {
  if (colors == 0 || c.plain) return "";
  const int code_base = background ? 48 : 38;
  if (colors > 256)
    return concat("\033[", code_base, ";2;", int{c.red}, ";", int{c.green}, ";", int{c.blue}, "m");
  if (colors == 256) return concat("\033[", code_base, ";5;", nearest_of_256(c), "m");
  return concat("\033[", nearest_of_16(c) + (background ? 10 : 0), "m");
}

}  // namespace crescent::pictures
