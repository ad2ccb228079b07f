// Decoders of the image protocols of terminals, in plain loops.
#pragma once
#include <string>

#include "targets/raster.h"

namespace crescent::pictures {

/// The pixels of a sixel image; fails for invalid text.
Raster decoded_sixel(const std::string& text);
/// The file that is transmitted in pieces by kitty's protocol.
std::string decoded_kitty(const std::string& text);
/// The pixels of a file of PNG, by the reader of images.
Raster decoded_png(const std::string& bytes);

}  // namespace crescent::pictures
