#include "decoded.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <map>

#include "crescent/data/images.h"
#include "crescent/system/file.h"

namespace crescent::pictures {
namespace {

/// Reads numbers and characters of a text in order.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}
  bool is_at_end() const { return position_ == text_.size(); }
  char next() {
    REQUIRE(!is_at_end());
    return text_[position_++];
  }
  char peek() const { return is_at_end() ? '\0' : text_[position_]; }
  int number() {
    int value = 0, digits = 0;
    for (; peek() >= '0' && peek() <= '9'; ++digits) value = 10 * value + (next() - '0');
    REQUIRE(digits > 0);
    return value;
  }
  void expect(std::string_view expected) {
    REQUIRE(text_.substr(position_, expected.size()) == expected);
    position_ += expected.size();
  }
  bool is_at(std::string_view expected) const {
    return text_.substr(position_, expected.size()) == expected;
  }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

int value_of_letter(char c) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return static_cast<int>(letters.find(c));
}

std::string decoded_base64(const std::string& text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(value_of_letter(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

}  // namespace

Raster decoded_sixel(const std::string& text) {
  TextReader reader(text);
  reader.expect("\033P0;1q\"1;1;");
  Raster raster;
  raster.columns = reader.number();
  reader.expect(";");
  raster.rows = reader.number();
  raster.rgb.assign(static_cast<size_t>(3 * raster.rows * raster.columns), 7);
  std::map<int, std::array<int, 3>> colors;
  int color = -1;
  int64_t x = 0, top = 0;
  while (!reader.is_at("\033\\")) {
    const char c = reader.next();
    int64_t count = 1;
    char sixel = c;
    if (c == '#') {
      color = reader.number();
      if (reader.peek() != ';') continue;
      reader.expect(";2;");
      auto& rgb = colors[color];
      rgb[0] = reader.number(), reader.expect(";");
      rgb[1] = reader.number(), reader.expect(";");
      rgb[2] = reader.number();
      continue;
    }
    if (c == '$') {
      x = 0;
      continue;
    }
    if (c == '-') {
      x = 0, top += 6;
      continue;
    }
    if (c == '!') count = reader.number(), sixel = reader.next();
    REQUIRE((sixel >= '?' && sixel <= '~'));
    REQUIRE(colors.count(color) == 1);
    for (; count > 0; --count, ++x)
      for (int k = 0; k < 6; ++k) {
        if (((sixel - 63) >> k & 1) == 0) continue;
        REQUIRE((x < raster.columns && top + k < raster.rows));
        for (size_t i = 0; i < 3; ++i)
          raster.rgb[static_cast<size_t>(3 * ((top + k) * raster.columns + x)) + i] =
              static_cast<uint8_t>((colors[color][i] * 255 + 50) / 100);
      }
  }
  return raster;
}

std::string decoded_kitty(const std::string& text) {
  std::string data;
  TextReader reader(text);
  for (bool has_more = true, is_first = true; has_more; is_first = false) {
    reader.expect("\033_G");
    if (is_first) reader.expect("a=T,f=100,q=2,");
    reader.expect("m=");
    has_more = reader.number() == 1;
    reader.expect(";");
    std::string piece;
    while (reader.peek() != '\033') piece += reader.next();
    REQUIRE(piece.size() <= 4096);
    REQUIRE((!has_more || piece.size() % 4 == 0));
    data += piece;
    reader.expect("\033\\");
  }
  return decoded_base64(data);
}

Raster decoded_png(const std::string& bytes) {
  char path[] = "/tmp/crescent-picture-XXXXXX.png";
  const Descriptor file(mkstemps(path, 4));
  replace_file(path, bytes);
  const Tensor image = read_image(path, 3);
  std::remove(path);
  const auto* values = image.data<uint8_t>();
  return {image.dim(0), image.dim(1), {values, values + image.size()}};
}

}  // namespace crescent::pictures
