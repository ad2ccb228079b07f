// Pixels in the protocols with which terminals show them.
#pragma once
#include <string>

#include "targets/raster.h"

namespace crescent::pictures {

/// A PNG in pieces for terminals like kitty, which are to answer nothing.
std::string kitty_of(const Raster& raster);
/// At most 256 colours in bands of six rows (DEC sixel).
std::string sixel_of(const Raster& raster);

}  // namespace crescent::pictures
