// Graphics protocols of terminals: kitty and sixel.
#pragma once
#include <string>

#include "targets/raster.h"

namespace crescent::pictures {

/// The escape sequences that show the pixels as a PNG on terminals with the kitty protocol. They
/// tell the terminal not to answer.
std::string kitty_of(const Raster& raster);
/// The pixels as sixel graphics (DEC): at most 256 colours, in bands of six rows.
std::string sixel_of(const Raster& raster);

}  // namespace crescent::pictures
