// Draws scenes as pixels with FreeType, which has the outlines of letters and fills outlines with
// antialiasing.
#pragma once
#include <cstdint>
#include <vector>

#include "scene/scene.h"

namespace crescent::pictures {

struct Raster {
  int64_t rows = 0, columns = 0;
  std::vector<uint8_t> rgb;  ///< (rows, columns, 3)
};

/// Draws the scene with `scale` pixels per unit. Fails if it contains texts and no font is
/// installed.
Raster raster_of(const Scene& scene, double scale = 1);

}  // namespace crescent::pictures
