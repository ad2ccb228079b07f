#include "targets/fonts.h"

#include "crescent/base/error.h"

namespace crescent::pictures {
namespace {

/// The paths of sans-serif fonts in Linux distributions: regular and bold.
constexpr const char* kFonts[][2] = {
    {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
     "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
     "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/TTF/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
     "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
     "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/freefont/FreeSans.ttf",
     "/usr/share/fonts/truetype/freefont/FreeSansBold.ttf"}};

FT_Library new_library() {
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) fail("FreeType does not start");
  return library;
}

FT_Face open_font(bool bold) {
  FT_Face face = nullptr;
  for (const auto& paths : kFonts)
    if (FT_New_Face(font_library(), paths[bold], 0, &face) == 0) return face;
  fail(
      "no font is installed for the texts of a picture in pixels: install fonts-dejavu-core, or "
      "choose a name that ends in .svg");
}

/// The number of bytes of a UTF-8 character by its first byte; 0 for an invalid byte.
int character_bytes(unsigned char first_byte) {
  return first_byte < 0x80    ? 1
         : first_byte >= 0xf0 ? 4
         : first_byte >= 0xe0 ? 3
         : first_byte >= 0xc0 ? 2
                              : 0;
}

}  // namespace

FT_Library font_library() {
  thread_local FT_Library library = new_library();
  return library;
}

FT_Face font(bool bold) {
  thread_local FT_Face faces[2] = {};
  if (!faces[bold]) faces[bold] = open_font(bold);
  return faces[bold];
}

double text_width(FT_Face face, std::string_view text) {
  double width = 0;
  for (const char32_t letter : code_points(text))
    if (FT_Load_Char(face, letter, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP) == 0)
      width += static_cast<double>(face->glyph->linearHoriAdvance) / 65536;
  return width;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (size_t i = 0; i < text.size();) {
    const auto first_byte = static_cast<unsigned char>(text[i]);
    const int length = character_bytes(first_byte);
    char32_t point = length < 2 ? first_byte : first_byte & (0x7f >> length);
    for (int k = 1; k < length && i + static_cast<size_t>(k) < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i + static_cast<size_t>(k)]) & 0x3f);
    if (length > 0) points.push_back(point);
    i += static_cast<size_t>(std::max(length, 1));
  }
  return points;
}

}  // namespace crescent::pictures
