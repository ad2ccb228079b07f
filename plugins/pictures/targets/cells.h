// Scenes as text for terminals: Braille for curves, blocks for bars and pixels, box drawing for
// frames; or plain ASCII.
#pragma once
#include <string>

#include "scene/scene.h"

namespace crescent::pictures {

/// The capabilities of a terminal.
struct CellOptions {
  int colors = 0;  ///< 0, 16, 256, or 24 bits as 1 << 24
  bool unicode = true;
  int64_t columns = 0;  ///< the number of columns at which rows are cut off; 0: no limit
};

/// Draws the scene as lines of text, each ending in a newline.
std::string cells_of(const Scene& scene, const CellOptions& options);

/// The escape sequence that sets the text or background colour on a terminal with `colors` colours;
/// "" if the terminal has none.
std::string color_code(Color color, bool background, int colors);

}  // namespace crescent::pictures
