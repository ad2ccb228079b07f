// Windows that slide along spatial axes.
#pragma once
#include <algorithm>

#include "validation/rules/rules.h"

namespace crescent::validation {

/// An element of the window (tap) at one position of the window, over an element of the image
/// (pixel); each is a flat index over the spatial axes.
struct WindowTap {
  int64_t position, tap, pixel;
};

/// Lists the taps that lie within the image, in the order of positions and, for one position, of
/// taps.
inline std::vector<WindowTap> window_taps(const Shape& image, const Shape& window,
                                          const Shape& positions, const ConvSpec& spec) {
  std::vector<WindowTap> taps{{0, 0, 0}};
  for (int axis = 0; axis < image.rank(); ++axis) {
    const size_t a = axis;
    const int64_t dilation = spec.dilation.empty() ? 1 : spec.dilation[a];
    std::vector<WindowTap> extended_taps;
    for (const WindowTap& c : taps)
      for (int64_t p = 0; p < positions[axis]; ++p)
        for (int64_t t = 0; t < window[axis]; ++t) {
          const int64_t position = p * spec.strides[a] + t * dilation - spec.pad_before[a];
          if (position >= 0 && position < image[axis])
            extended_taps.push_back({c.position * positions[axis] + p, c.tap * window[axis] + t,
                                     c.pixel * image[axis] + position});
        }
    taps = std::move(extended_taps);
  }
  std::stable_sort(taps.begin(), taps.end(), [](const WindowTap& a, const WindowTap& b) {
    return a.position != b.position ? a.position < b.position : a.tap < b.tap;
  });
  return taps;
}

/// The spatial axes of an image (batch, spatial..., channels).
inline Shape spatial(const Shape& shape) { return shape.slice(1, shape.rank() - 1); }

}  // namespace crescent::validation
