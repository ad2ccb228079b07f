// Fonts of the system, for letters as outlines.
#pragma once
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include <string>
#include <string_view>

namespace crescent::pictures {

/// The state of FreeType; a thread has its own.
FT_Library font_library();
/// A font without serifs; fails when none is installed.
FT_Face font(bool bold);
/// The width of the text in pixels at the size that the font is set to.
double text_width(FT_Face face, std::string_view text);
/// The characters of UTF-8; bytes that are none are left out.
std::u32string code_points(std::string_view text);

}  // namespace crescent::pictures
