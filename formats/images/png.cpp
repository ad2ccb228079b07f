// The format "png", by libpng, which reports errors by longjmp. So no object with a destructor
// lives between setjmp and the end of a function.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "image_file.h"

namespace crescent::images {
namespace {

constexpr size_t kTextBytes = 256;

/// Stores an error message of libpng until, after longjmp, a C++ exception can be thrown.
struct PngError {
  char text[kTextBytes] = "";
};

void on_error(png_structp png, png_const_charp text) {
  auto* error = static_cast<PngError*>(png_get_error_ptr(png));
  std::strncpy(error->text, text, kTextBytes - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

struct Source {
  const char* at;
  size_t left;
};
void read_bytes(png_structp png, png_bytep target, size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->left) png_error(png, "the file ends inside the image");
  std::memcpy(target, source->at, count);
  source->at += count;
  source->left -= count;
}

/// The state of reading an image.
struct Reading {
  PngError error;
  Source source;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Reading(std::string_view bytes) : source{bytes.data(), bytes.size()} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
  }
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
  Reading(const Reading&) = delete;
};

/// Makes libpng convert the image to grey or colour with 8 bits per sample, with or without alpha.
/// Only grey images of 16 bits keep their 16 bits.
bool read_header(Reading& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r.source, read_bytes);
  png_set_chunk_malloc_max(r.png, 8 << 20);
  png_read_info(r.png, r.info);
  const int type = png_get_color_type(r.png, r.info), depth = png_get_bit_depth(r.png, r.info);
  png_set_expand(r.png);
  if (depth == 16 && type != PNG_COLOR_TYPE_GRAY) png_set_strip_16(r.png);
  if (depth == 16 && type == PNG_COLOR_TYPE_GRAY) png_set_swap(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reading& r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

}  // namespace

Tensor decode_png(const std::string& path, std::string_view bytes) {
  Reading r(bytes);
  if (!r.info) fail("'", path, "': not enough memory to read an image");
  const auto refuse = [&] { fail("'", path, "' cannot be read as PNG: ", r.error.text); };
  if (!read_header(r)) refuse();
  const auto height = png_get_image_height(r.png, r.info),
             width = png_get_image_width(r.png, r.info);
  const int channels = png_get_channels(r.png, r.info);
  const bool has_16_bits = png_get_bit_depth(r.png, r.info) == 16;
  check_size(path, height, width);
  const size_t row = png_get_rowbytes(r.png, r.info);
  std::vector<png_byte> deep_values(has_16_bits ? row * height : 0);
  Tensor image =
      blank_image(path, height, width, channels, has_16_bits ? DType::int32 : DType::uint8);
  auto* target = has_16_bits ? deep_values.data() : image.mutable_data<uint8_t>();
  std::vector<png_bytep> rows;
  for (size_t y = 0; y < height; ++y) rows.push_back(target + y * row);
  if (!read_rows(r, rows.data())) refuse();
  for (size_t i = 0; i < deep_values.size() / 2; ++i)
    image.mutable_data<int32_t>()[i] = deep_values[2 * i] | deep_values[2 * i + 1] << 8;
  return image;
}

// ---- writing of PNG files

namespace {

void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))
      ->append(reinterpret_cast<const char*>(bytes), count);
}
void flush_nothing(png_structp) {}

bool write_rows(png_structp png, png_infop info, std::string* to, png_bytepp rows,
                const Shape& shape) {
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, to, write_bytes, flush_nothing);
  png_set_IHDR(png, info, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]), 8,
               kTypes[shape[2]], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  return true;
}

std::string encode_png(const std::string& path, const Tensor& image) {
  PngError error;
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  std::vector<png_bytep> rows;
  const int64_t row = image.dim(1) * image.dim(2);
  for (int64_t y = 0; y < image.dim(0); ++y)
    rows.push_back(const_cast<png_bytep>(image.data<uint8_t>()) + y * row);
  const bool is_written = info && write_rows(png, info, &file, rows.data(), image.shape());
  png_destroy_write_struct(&png, &info);
  if (!is_written) fail("'", path, "' cannot be written as PNG: ", error.text);
  return file;
}

}  // namespace

class Png final : public ImageFormat {
 public:
  static void describe(Schema<Png>& s) {
    s.doc("Images, packed without loss.")
        .trait("endings", List{".png"})
        .trait("signatures", List{"89504e470d0a1a0a"});
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    replace_file(path, encode_png(path, image_to_write(path, arrays, {1, 2, 3, 4})));
  }

 private:
  Tensor decode(const std::string& path, std::string_view bytes) const override {
    return decode_png(path, bytes);
  }
};

void add_jpeg(Registry& registry);
void add_bitmaps(Registry& registry);

CRESCENT_PLUGIN("images", CRESCENT_VERSION) {
  registry.add<Png>("png");
  add_jpeg(registry);
  add_bitmaps(registry);
}

}  // namespace crescent::images
