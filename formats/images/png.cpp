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

struct ByteSource {
  const char* next_byte;
  size_t bytes_left;
};
void read_bytes(png_structp png, png_bytep target, size_t count) {
  auto* source = static_cast<ByteSource*>(png_get_io_ptr(png));
  if (count > source->bytes_left) png_error(png, "the file ends inside the image");
  std::memcpy(target, source->next_byte, count);
  source->next_byte += count;
  source->bytes_left -= count;
}

/// The state of reading an image.
struct PngReader {
  PngError error;
  ByteSource source;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit PngReader(std::string_view bytes) : source{bytes.data(), bytes.size()} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
};

/// Makes libpng convert the image to grey or colour with 8 bits per sample, with or without alpha.
/// Only grey images of 16 bits keep their 16 bits.
bool read_header(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_read_fn(reader.png, &reader.source, read_bytes);
  png_set_chunk_malloc_max(reader.png, 8 << 20);
  png_read_info(reader.png, reader.info);
  const int type = png_get_color_type(reader.png, reader.info),
            depth = png_get_bit_depth(reader.png, reader.info);
  png_set_expand(reader.png);
  if (depth == 16 && type != PNG_COLOR_TYPE_GRAY) png_set_strip_16(reader.png);
  if (depth == 16 && type == PNG_COLOR_TYPE_GRAY) png_set_swap(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_rows(PngReader& reader, png_bytepp row_pointers) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_read_image(reader.png, row_pointers);
  png_read_end(reader.png, nullptr);
  return true;
}

}  // namespace

Tensor decode_png(const std::string& path, std::string_view bytes) {
  PngReader reader(bytes);
  if (!reader.info) fail("'", path, "': not enough memory to read an image");
  const auto refuse = [&] { fail("'", path, "' cannot be read as PNG: ", reader.error.text); };
  if (!read_header(reader)) refuse();
  const auto height = png_get_image_height(reader.png, reader.info),
             width = png_get_image_width(reader.png, reader.info);
  const int channels = png_get_channels(reader.png, reader.info);
  const bool has_16_bits = png_get_bit_depth(reader.png, reader.info) == 16;
  check_size(path, height, width);
  const size_t row_bytes = png_get_rowbytes(reader.png, reader.info);
  std::vector<png_byte> samples_of_16_bits(has_16_bits ? row_bytes * height : 0);
  Tensor image =
      blank_image(path, height, width, channels, has_16_bits ? DType::int32 : DType::uint8);
  auto* target = has_16_bits ? samples_of_16_bits.data() : image.mutable_data<uint8_t>();
  std::vector<png_bytep> row_pointers;
  for (size_t y = 0; y < height; ++y) row_pointers.push_back(target + y * row_bytes);
  if (!read_rows(reader, row_pointers.data())) refuse();
  for (size_t i = 0; i < samples_of_16_bits.size() / 2; ++i)
    image.mutable_data<int32_t>()[i] = samples_of_16_bits[2 * i] | samples_of_16_bits[2 * i + 1]
                                                                       << 8;
  return image;
}

// ---- writing of PNG files

namespace {

void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))
      ->append(reinterpret_cast<const char*>(bytes), count);
}
void ignore_flush(png_structp) {}

bool write_rows(png_structp png, png_infop info, std::string* output, png_bytepp row_pointers,
                const Shape& shape) {
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, output, write_bytes, ignore_flush);
  png_set_IHDR(png, info, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]), 8,
               kTypes[shape[2]], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, row_pointers);
  png_write_end(png, info);
  return true;
}

std::string encode_png(const std::string& path, const Tensor& image) {
  PngError error;
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  std::vector<png_bytep> row_pointers;
  const int64_t row_bytes = image.dim(1) * image.dim(2);
  for (int64_t y = 0; y < image.dim(0); ++y)
    row_pointers.push_back(const_cast<png_bytep>(image.data<uint8_t>()) + y * row_bytes);
  const bool is_written = info && write_rows(png, info, &file, row_pointers.data(), image.shape());
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
