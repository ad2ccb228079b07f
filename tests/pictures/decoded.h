// Decodes the picture protocols of terminals (sixel, kitty) with plain loops.
#pragma once
#include <string>

#include "targets/raster.h"

namespace crescent::pictures {

/// The pixels of a sixel picture; fails if the text is not one.
Raster decoded_sixel(const std::string& text);
/// The file that the chunks of kitty's protocol contain.
std::string decoded_kitty(const std::string& text);
/// The pixels of a PNG file, read by the reader of images.
Raster decoded_png(const std::string& bytes);

}  // namespace crescent::pictures
