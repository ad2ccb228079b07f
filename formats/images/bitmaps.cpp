// The formats "bmp" and "pnm" of uncompressed images.
#include <cctype>
#include <cstring>

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "image_file.h"

namespace crescent::images {
namespace {

/// Reads the bytes of a file at given offsets, with checks of the bounds.
class ByteReader {
 public:
  ByteReader(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}
  uint8_t at(size_t i) const {
    if (i >= bytes_.size()) fail("'", path_, "' ends inside the image");
    return static_cast<uint8_t>(bytes_[i]);
  }
  uint32_t integer_at(size_t i, size_t width) const {
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
  const ByteReader bytes(path, text);
  const uint32_t pixels_offset = bytes.integer_at(10, 4), header_bytes = bytes.integer_at(14, 4);
  const auto width = static_cast<int32_t>(bytes.integer_at(18, 4));
  auto height = static_cast<int32_t>(bytes.integer_at(22, 4));
  const uint32_t bits_per_pixel = bytes.integer_at(28, 2), compression = bytes.integer_at(30, 4);
  const bool has_palette = bits_per_pixel == 1 || bits_per_pixel == 4 || bits_per_pixel == 8;
  const bool is_uncompressed = compression == 0 || (compression == 3 && bits_per_pixel == 32);
  if (header_bytes < 40 || width < 0 || height == INT32_MIN || !is_uncompressed ||
      (!has_palette && bits_per_pixel != 24 && bits_per_pixel != 32))
    fail("'", path, "': BMP files of ", bits_per_pixel, " bits with compression ", compression,
         " cannot be read; 1, 4, 8, 24 and 32 bits without can");
  const bool starts_at_top = height < 0;
  height = std::abs(height);
  check_size(path, static_cast<uint64_t>(height), static_cast<uint64_t>(width));
  const size_t row_bytes = (size_t{bits_per_pixel} * static_cast<size_t>(width) + 31) / 32 * 4;
  if (pixels_offset > bytes.size() ||
      bytes.size() - pixels_offset < row_bytes * static_cast<size_t>(height))
    fail("'", path, "' ends inside the image");
  Tensor image = blank_image(path, static_cast<uint64_t>(height), static_cast<uint64_t>(width), 3);
  auto* output = image.mutable_data<uint8_t>();
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    const size_t row_start =
        pixels_offset + (starts_at_top ? y : static_cast<size_t>(height) - 1 - y) * row_bytes;
    for (size_t x = 0; x < static_cast<size_t>(width); ++x, output += 3) {
      size_t colour_offset = row_start + x * bits_per_pixel / 8;
      if (has_palette) {
        const uint32_t shift = 8 - bits_per_pixel - static_cast<uint32_t>(x * bits_per_pixel % 8);
        colour_offset = 14 + header_bytes +
                        4 * (bytes.at(colour_offset) >> shift & ((1u << bits_per_pixel) - 1));
      }
      for (size_t c = 0; c < 3; ++c) output[c] = bytes.at(colour_offset + 2 - c);
    }
  }
  return image;
}

namespace {

std::string encode_bmp(const Tensor& image) {
  const auto height = static_cast<size_t>(image.dim(0)), width = static_cast<size_t>(image.dim(1)),
             channels = static_cast<size_t>(image.dim(2));
  const size_t row_bytes = (3 * width + 3) / 4 * 4, pixels_offset = 54;
  std::string file(pixels_offset + row_bytes * height, '\0');
  const auto put_integer = [&](size_t at, size_t value, size_t byte_count) {
    for (size_t k = 0; k < byte_count; ++k) file[at + k] = static_cast<char>(value >> (8 * k));
  };
  file.replace(0, 2, "BM");
  put_integer(2, file.size(), 4);
  put_integer(10, pixels_offset, 4);
  put_integer(14, 40, 4);
  put_integer(18, width, 4);
  put_integer(22, height, 4);
  put_integer(26, 1, 2);
  put_integer(28, 24, 2);
  put_integer(34, row_bytes * height, 4);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < 3; ++c) {
        const size_t source_index =
            ((height - 1 - y) * width + x) * channels + (channels == 3 ? 2 - c : 0);
        file[pixels_offset + y * row_bytes + 3 * x + c] =
            static_cast<char>(image.data<uint8_t>()[source_index]);
      }
  return file;
}

/// Reads the numbers of a PNM header; a comment in it ends with the line.
class PnmHeader {
 public:
  PnmHeader(const std::string& path, std::string_view text) : path_(path), text_(text) {}
  uint64_t next_number() {
    skip_spaces_and_comments();
    uint64_t value = 0;
    const size_t number_start = offset_;
    for (; offset_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[offset_]));
         ++offset_)
      value =
          std::min<uint64_t>(value * 10 + static_cast<uint64_t>(text_[offset_] - '0'), UINT32_MAX);
    if (offset_ == number_start)
      fail("'", path_, "': expected a number in its header at offset ", number_start);
    return value;
  }
  size_t values_offset() const { return offset_ + 1; }

 private:
  void skip_spaces_and_comments() {
    for (; offset_ < text_.size(); ++offset_) {
      if (text_[offset_] == '#') offset_ = std::min(text_.find('\n', offset_), text_.size() - 1);
      if (!std::isspace(static_cast<unsigned char>(text_[offset_]))) return;
    }
  }
  const std::string& path_;
  std::string_view text_;
  size_t offset_ = 2;
};

}  // namespace

Tensor decode_pnm(const std::string& path, std::string_view text) {
  PnmHeader header(path, text);
  const int channels = text.size() > 1 && text[1] == '6' ? 3 : 1;
  const uint64_t width = header.next_number(), height = header.next_number(),
                 max_sample = header.next_number();
  if (max_sample != 255)
    fail("'", path, "': expected samples up to 255, got ", max_sample, ", which cannot be read");
  Tensor image = blank_image(path, height, width, channels);
  if (text.size() < header.values_offset() || text.size() - header.values_offset() < image.bytes())
    fail("'", path, "' ends inside the image");
  std::memcpy(image.mutable_raw(), text.data() + header.values_offset(), image.bytes());
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
