// Widths of texts. For SVG no font is loaded: widths are from a table for DejaVu Sans, a common
// font.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "scene/scene.h"

namespace crescent::pictures {
namespace {

/// Widths of the characters from U+0020 on, in thousandths of the font size.
constexpr short kWidths[] = {
    317, 400, 459, 837, 636, 950, 779, 274, 390, 390, 500, 837, 317, 360,  317, 336, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 336, 336, 837, 837, 837, 530, 1000, 684, 686, 698, 770, 631,
    575, 774, 751, 294, 294, 655, 557, 862, 748, 787, 603, 787, 694, 634,  610, 731, 684, 988, 685,
    610, 685, 390, 336, 390, 837, 500, 500, 612, 634, 549, 634, 615, 352,  634, 633, 277, 277, 579,
    277, 974, 633, 611, 634, 634, 411, 520, 392, 633, 591, 817, 591, 591,  524, 636, 336, 636, 837};
constexpr short kOtherWidth = 650, kEllipsisWidth = 1000;

bool begins_letter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// The width of the first letter, in thousandths of the font size.
short first_width(std::string_view text) {
  if (text[0] >= ' ' && text[0] < 127) return kWidths[text[0] - ' '];
  return text.starts_with("…") ? kEllipsisWidth : kOtherWidth;
}

}  // namespace

double proportional_width(std::string_view text) {
  double width = 0;
  for (; !text.empty(); text.remove_prefix(1))
    if (begins_letter(text[0])) width += first_width(text);
  return width / 1000;
}

size_t letters_in(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

std::string_view first_letters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end)
    if (begins_letter(text[end]) && count-- == 0) break;
  return text.substr(0, end);
}

double Metrics::width(std::string_view text, double scale) const {
  return in_cells ? static_cast<double>(letters_in(text)) : size * scale * proportional_width(text);
}

std::string fitted_text(const Metrics& metrics, const std::string& text, double width) {
  if (metrics.width(text) <= width) return text;
  for (size_t count = letters_in(text); count-- > 0;) {
    const std::string shortened_text = std::string(first_letters(text, count)) + "…";
    if (metrics.width(shortened_text) <= width) return shortened_text;
  }
  return "";
}

}  // namespace crescent::pictures
