// Scenes as text for terminals: Braille for curves, blocks for bars and pixels, box drawing for
// frames; or plain ASCII.
#pragma once
#include <string>

#include "scene/scene.h"

namespace crescent::pictures {

/// What a terminal shows.
struct CellOptions {
  int colors = 0;  ///< 0, 16, 256, or 24 bits as 1 << 24
  bool unicode = true;
  int64_t columns = 0;  ///< more are left out; 0: none are
};

/// Lines of text, each with its end.
std::string cells_of(const Scene& scene, const CellOptions& options);

/// Changes of colour for a terminal of so many colours; "" where there are none.
std::string color_code(Color color, bool background, int colors);

}  // namespace crescent::pictures
