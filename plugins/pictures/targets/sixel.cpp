// Sixel graphics: https://vt100.net/docs/vt3xx-gp/chapter14.html
#include <algorithm>
#include <map>

#include "crescent/base/error.h"
#include "targets/graphics.h"

namespace crescent::pictures {
namespace {

constexpr size_t kMaxColors = 256;

uint32_t color_key(const uint8_t* rgb) { return uint32_t{rgb[0]} << 16 | rgb[1] << 8 | rgb[2]; }

/// An image with a palette: each pixel is the index of a colour.
struct IndexedImage {
  std::vector<uint32_t> colors;  ///< 0xrrggbb
  std::vector<uint8_t> pixels;
};

/// Makes a palette of the exact colours of the image; returns false if there are too many.
bool index_exactly(const Raster& raster, IndexedImage& indexed_image) {
  std::map<uint32_t, uint8_t> palette_indices;
  for (size_t i = 0; i < raster.rgb.size(); i += 3) {
    const uint32_t key = color_key(&raster.rgb[i]);
    auto palette_entry = palette_indices.find(key);
    if (palette_entry == palette_indices.end()) {
      if (palette_indices.size() == kMaxColors) return false;
      palette_entry =
          palette_indices.emplace(key, static_cast<uint8_t>(palette_indices.size())).first;
      indexed_image.colors.push_back(key);
    }
    indexed_image.pixels.push_back(palette_entry->second);
  }
  return true;
}

/// Reduces a value to `steps` levels by ordered dithering: an offset that depends on the position
/// of the pixel preserves the mean brightness of areas.
int dithered_level(uint8_t value, int steps, int64_t x, int64_t y) {
  constexpr int kBayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  const int scaled = value * (steps - 1) * 16 + kBayer[y % 4][x % 4] * 255 + 127;
  return std::min(scaled / (255 * 16), steps - 1);
}

/// Maps the pixels of the image to a fixed palette of 6 x 7 x 6 colours.
IndexedImage index_in_cube(const Raster& raster) {
  constexpr int kRedLevels = 6, kGreenLevels = 7, kBlueLevels = 6;
  IndexedImage indexed_image;
  for (int r = 0; r < kRedLevels; ++r)
    for (int g = 0; g < kGreenLevels; ++g)
      for (int b = 0; b < kBlueLevels; ++b)
        indexed_image.colors.push_back(static_cast<uint32_t>(r * 255 / (kRedLevels - 1)) << 16 |
                                       static_cast<uint32_t>(g * 255 / (kGreenLevels - 1)) << 8 |
                                       static_cast<uint32_t>(b * 255 / (kBlueLevels - 1)));
  for (int64_t i = 0; i < raster.rows * raster.columns; ++i) {
    const int64_t x = i % raster.columns, y = i / raster.columns;
    const uint8_t* rgb = &raster.rgb[static_cast<size_t>(3 * i)];
    const int r = dithered_level(rgb[0], kRedLevels, x, y),
              g = dithered_level(rgb[1], kGreenLevels, x, y),
              b = dithered_level(rgb[2], kBlueLevels, x, y);
    indexed_image.pixels.push_back(static_cast<uint8_t>((r * kGreenLevels + g) * kBlueLevels + b));
  }
  return indexed_image;
}

std::string run_text(char repeated_letter, int64_t count) {
  return count > 3 ? concat("!", count, std::string(1, repeated_letter))
                   : std::string(static_cast<size_t>(count), repeated_letter);
}

/// The sixel data of one colour in a band of six rows; "" if the band does not contain the colour.
std::string band_of(const IndexedImage& indexed_image, const Raster& raster, int64_t top,
                    uint8_t color) {
  std::string text;
  char last_letter = 0;
  int64_t count = 0;
  for (int64_t x = 0; x < raster.columns; ++x) {
    int bits = 0;
    for (int64_t k = 0; k < 6 && top + k < raster.rows; ++k)
      bits |= (indexed_image.pixels[static_cast<size_t>((top + k) * raster.columns + x)] == color)
              << k;
    const char letter = static_cast<char>(63 + bits);
    if (letter != last_letter && count > 0) text += run_text(last_letter, std::exchange(count, 0));
    last_letter = letter;
    ++count;
  }
  return last_letter == 63 && text.empty() ? "" : text + run_text(last_letter, count);
}

std::vector<bool> colors_in_band(const IndexedImage& indexed_image, const Raster& raster,
                                 int64_t top) {
  std::vector<bool> is_used(kMaxColors);
  const int64_t end = std::min(top + 6, raster.rows) * raster.columns;
  for (int64_t i = top * raster.columns; i < end; ++i)
    is_used[indexed_image.pixels[static_cast<size_t>(i)]] = true;
  return is_used;
}

int byte_percent(uint32_t byte) { return static_cast<int>(((byte & 255) * 100 + 127) / 255); }

}  // namespace

std::string sixel_of(const Raster& raster) {
  IndexedImage indexed_image;
  if (!index_exactly(raster, indexed_image)) indexed_image = index_in_cube(raster);
  std::string text = concat("\033P0;1q\"1;1;", raster.columns, ";", raster.rows);
  for (size_t i = 0; i < indexed_image.colors.size(); ++i) {
    const uint32_t c = indexed_image.colors[i];
    text += concat("#", i, ";2;", byte_percent(c >> 16), ";", byte_percent(c >> 8), ";",
                   byte_percent(c));
  }
  for (int64_t top = 0; top < raster.rows; top += 6) {
    const std::vector<bool> is_used = colors_in_band(indexed_image, raster, top);
    for (size_t color = 0; color < is_used.size(); ++color)
      if (is_used[color])
        text += concat("#", color, band_of(indexed_image, raster, top, static_cast<uint8_t>(color)),
                       "$");
    text += "-";
  }
  return text + "\033\\\n";
}

}  // namespace crescent::pictures
