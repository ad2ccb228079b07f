// What terminals make of the bytes that they are sent, in plain loops.
#pragma once
#include <string>

#include "targets/raster.h"

namespace crescent::pictures {

/// The pixels of a sixel picture; fails for what is none.
Raster decoded_sixel(const std::string& text);
/// The file in the pieces of kitty's protocol.
std::string decoded_kitty(const std::string& text);
/// The pixels of a file of PNG, by the reader of images.
Raster decoded_png(const std::string& bytes);

}  // namespace crescent::pictures
