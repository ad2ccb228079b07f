// Installed fonts, loaded by FreeType.
#pragma once
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include <string>
#include <string_view>

namespace crescent::pictures {

/// The FreeType library object of the calling thread.
FT_Library font_library();
/// A sans-serif font; fails if none is installed.
FT_Face font(bool bold);
/// The width of the text in pixels at the present size of the font.
double text_width(FT_Face face, std::string_view text);
/// The code points of a UTF-8 text; invalid bytes are skipped.
std::u32string code_points(std::string_view text);

}  // namespace crescent::pictures
