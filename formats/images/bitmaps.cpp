// The formats "bmp" and "pnm" of uncompressed images.
#include <cctype>
#include <cstring>

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "image_file.h"

namespace crescent::images {
namespace {

/// Reads the bytes of a file at given offsets, with checks of the bounds.
class Bytes {
 public:
  Bytes(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}
  uint8_t at(size_t i) const {
    if (i >= bytes_.size()) fail("'", path_, "' ends inside the image");
    return static_cast<uint8_t>(bytes_[i]);
  }
  uint32_t word(size_t i, size_t width) const {
    uint32_t value = 0;
    for (size_t k = 0; k < width; ++k) value |= uint32_t{at(i + k)} << (8 * k);
    return value;
  }
  size_t size() const { return bytes_.size(); }

 private:
  const std::string& path_;
  std::string_view bytes_;
};

}  // namespace

/// Decodes a BMP with 1, 4 or 8 bits per pixel and a palette, or with 24 or 32 bits. The rows start
/// at the bottom unless the height is negative.
Tensor decode_bmp(const std::string& path, std::string_view text) {
  const Bytes bytes(path, text);
  const uint32_t start = bytes.word(10, 4), header = bytes.word(14, 4);
  const auto width = static_cast<int32_t>(bytes.word(18, 4));
  auto height = static_cast<int32_t>(bytes.word(22, 4));
  const uint32_t bits = bytes.word(28, 2), packing = bytes.word(30, 4);
  const bool has_palette = bits == 1 || bits == 4 || bits == 8;
  const bool is_uncompressed = packing == 0 || (packing == 3 && bits == 32);
  if (header < 40 || width < 0 || height == INT32_MIN || !is_uncompressed ||
      (!has_palette && bits != 24 && bits != 32))
    fail("'", path, "': BMP files of ", bits, " bits with compression ", packing,
         " cannot be read; 1, 4, 8, 24 and 32 bits without can");
  const bool from_top = height < 0;
  height = std::abs(height);
  check_size(path, static_cast<uint64_t>(height), static_cast<uint64_t>(width));
  const size_t row = (size_t{bits} * static_cast<size_t>(width) + 31) / 32 * 4;
  if (start > bytes.size() || bytes.size() - start < row * static_cast<size_t>(height))
    fail("'", path, "' ends inside the image");
  Tensor image = blank_image(path, static_cast<uint64_t>(height), static_cast<uint64_t>(width), 3);
  auto* to = image.mutable_data<uint8_t>();
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    const size_t from = start + (from_top ? y : static_cast<size_t>(height) - 1 - y) * row;
    for (size_t x = 0; x < static_cast<size_t>(width); ++x, to += 3) {
      size_t colour = from + x * bits / 8;
      if (has_palette) {
        const uint32_t shift = 8 - bits - static_cast<uint32_t>(x * bits % 8);
        colour = 14 + header + 4 * (bytes.at(colour) >> shift & ((1u << bits) - 1));
      }
      for (size_t c = 0; c < 3; ++c) to[c] = bytes.at(colour + 2 - c);
    }
  }
  return image;
}

namespace {

std::string encode_bmp(const Tensor& image) {
  const auto height = static_cast<size_t>(image.dim(0)), width = static_cast<size_t>(image.dim(1)),
             channels = static_cast<size_t>(image.dim(2));
  const size_t row = (3 * width + 3) / 4 * 4, start = 54;
  std::string file(start + row * height, '\0');
  const auto put = [&](size_t at, size_t value, size_t bytes) {
    for (size_t k = 0; k < bytes; ++k) file[at + k] = static_cast<char>(value >> (8 * k));
  };
  file.replace(0, 2, "BM");
  put(2, file.size(), 4);
  put(10, start, 4);
  put(14, 40, 4);
  put(18, width, 4);
  put(22, height, 4);
  put(26, 1, 2);
  put(28, 24, 2);
  put(34, row * height, 4);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < 3; ++c) {
        const size_t from = ((height - 1 - y) * width + x) * channels + (channels == 3 ? 2 - c : 0);
        file[start + y * row + 3 * x + c] = static_cast<char>(image.data<uint8_t>()[from]);
      }
  return file;
}

/// Reads the numbers of a PNM header; a comment in it ends with the line.
class PnmHeader {
 public:
  PnmHeader(const std::string& path, std::string_view text) : path_(path), text_(text) {}
  uint64_t number() {
    skip();
    uint64_t value = 0;
    const size_t first = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
      value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(text_[at_] - '0'), UINT32_MAX);
    if (at_ == first) fail("'", path_, "': expected a number in its header at offset ", first);
    return value;
  }
  size_t values() const { return at_ + 1; }

 private:
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (!std::isspace(static_cast<unsigned char>(text_[at_]))) return;
    }
  }
  const std::string& path_;
  std::string_view text_;
  size_t at_ = 2;
};

}  // namespace

Tensor decode_pnm(const std::string& path, std::string_view text) {
  PnmHeader header(path, text);
  const int channels = text.size() > 1 && text[1] == '6' ? 3 : 1;
  const uint64_t width = header.number(), height = header.number(), most = header.number();
  if (most != 255)
    fail("'", path, "': expected samples up to 255, got ", most, ", which cannot be read");
  Tensor image = blank_image(path, height, width, channels);
  if (text.size() < header.values() || text.size() - header.values() < image.bytes())
    fail("'", path, "' ends inside the image");
  std::memcpy(image.mutable_raw(), text.data() + header.values(), image.bytes());
  return image;
}

class Bmp final : public ImageFormat {
 public:
  static void describe(Schema<Bmp>& s) {
    s.doc("Images of Windows, not packed.")
        .trait("endings", List{".bmp"})
        .trait("signatures", List{"424d"});
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    replace_file(path, encode_bmp(image_to_write(path, arrays, {1, 3})));
  }

 private:
  Tensor decode(const std::string& path, std::string_view bytes) const override {
    return decode_bmp(path, bytes);
  }
};

class Pnm final : public ImageFormat {
 public:
  static void describe(Schema<Pnm>& s) {
    s.doc("Images of Netpbm, grey (.pgm) or colour (.ppm).")
        .trait("endings", List{".ppm", ".pgm", ".pnm"})
        .trait("signatures", List{"5035", "5036"});
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    const Tensor image = image_to_write(path, arrays, {1, 3});
    std::string file =
        concat(image.dim(2) == 1 ? "P5" : "P6", "\n", image.dim(1), " ", image.dim(0), "\n255\n");
    file.append(static_cast<const char*>(image.raw()), image.bytes());
    replace_file(path, file);
  }

 private:
  Tensor decode(const std::string& path, std::string_view bytes) const override {
    return decode_pnm(path, bytes);
  }
};

void add_bitmaps(Registry& registry) {
  registry.add<Bmp>("bmp");
  registry.add<Pnm>("pnm");
}

}  // namespace crescent::images
