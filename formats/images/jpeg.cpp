// The format "jpeg", by libjpeg, which reports errors by longjmp. So no object with a destructor
// lives between setjmp and the end of a function.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <vector>
// jerror.h and jpeglib.h need <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "image_file.h"

namespace crescent::images {
namespace {

/// Stores an error message of libjpeg until, after longjmp, a C++ exception can be thrown.
struct JpegError {
  jpeg_error_mgr base;
  std::jmp_buf return_point;
  char text[JMSG_LENGTH_MAX] = "";
};

void on_error(j_common_ptr codec) {
  auto* error = reinterpret_cast<JpegError*>(codec->err);
  codec->err->format_message(codec, error->text);
  std::longjmp(error->return_point, 1);
}
/// Counts warnings of damaged values as errors, but ignores extraneous bytes.
void on_message(j_common_ptr codec, int level) {
  const int code = codec->err->msg_code;
  const bool is_harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
                           code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_PROGRESSION;
  if (level < 0 && !is_harmless) on_error(codec);
}

void set_handlers(JpegError& error) {
  jpeg_std_error(&error.base);
  error.base.error_exit = on_error;
  error.base.emit_message = on_message;
}

struct JpegReader {
  JpegError error;
  jpeg_decompress_struct codec{};
  JpegReader() {
    set_handlers(error);
    codec.err = &error.base;
  }
  ~JpegReader() { jpeg_destroy_decompress(&codec); }
  JpegReader(const JpegReader&) = delete;
};

bool read_header(JpegReader& reader, const unsigned char* bytes, size_t count) {
  if (setjmp(reader.error.return_point)) return false;
  jpeg_create_decompress(&reader.codec);
  jpeg_mem_src(&reader.codec, bytes, static_cast<unsigned long>(count));
  jpeg_read_header(&reader.codec, TRUE);
  const auto file_color_space = reader.codec.jpeg_color_space;
  reader.codec.out_color_space = file_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE
                                 : file_color_space == JCS_CMYK || file_color_space == JCS_YCCK
                                     ? JCS_CMYK
                                     : JCS_RGB;
  jpeg_calc_output_dimensions(&reader.codec);
  return true;
}

/// Reads the rows of the image. Fails after kMaxScans scans, because a progressive file may
/// contain any number of them.
bool read_rows(JpegReader& reader, unsigned char* target, size_t row_bytes) {
  constexpr int kMaxScans = 500;
  if (setjmp(reader.error.return_point)) return false;
  jpeg_start_decompress(&reader.codec);
  while (reader.codec.output_scanline < reader.codec.output_height) {
    JSAMPROW row_start = target + reader.codec.output_scanline * row_bytes;
    jpeg_read_scanlines(&reader.codec, &row_start, 1);
    if (reader.codec.input_scan_number > kMaxScans) ERREXIT(&reader.codec, JERR_BAD_PROGRESSION);
  }
  jpeg_finish_decompress(&reader.codec);
  return true;
}

/// Converts an image with the channels CMYK to RGB. If `is_inverted` is true, the values are 255
/// minus the amounts of ink, as Photoshop writes them.
Tensor rgb_of_inks(const Tensor& inks, bool is_inverted) {
  Tensor image({DType::uint8, {inks.dim(0), inks.dim(1), 3}});
  const uint8_t* source = inks.data<uint8_t>();
  auto* target = image.mutable_data<uint8_t>();
  const auto brightness = [&](uint8_t ink) { return is_inverted ? ink : 255 - ink; };
  for (int64_t i = 0; i < inks.dim(0) * inks.dim(1); ++i)
    for (int c = 0; c < 3; ++c)
      target[3 * i + c] = static_cast<uint8_t>(
          (brightness(source[4 * i + 3]) * brightness(source[4 * i + c]) + 127) / 255);
  return image;
}

}  // namespace

Tensor decode_jpeg(const std::string& path, std::string_view bytes) {
  JpegReader reader;
  const auto refuse = [&] { fail("'", path, "' cannot be read as JPEG: ", reader.error.text); };
  if (!read_header(reader, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    refuse();
  const int channels = reader.codec.out_color_components;
  Tensor image = blank_image(path, reader.codec.output_height, reader.codec.output_width, channels);
  const size_t row_bytes = size_t{reader.codec.output_width} * static_cast<size_t>(channels);
  if (!read_rows(reader, image.mutable_data<uint8_t>(), row_bytes)) refuse();
  return channels == 4 ? rgb_of_inks(image, reader.codec.saw_Adobe_marker) : image;
}

// ---- writing of JPEG files

namespace {

struct JpegWriter {
  JpegError error;
  jpeg_compress_struct codec{};
  unsigned char* bytes = nullptr;
  unsigned long byte_count = 0;
  JpegWriter() {
    set_handlers(error);
    codec.err = &error.base;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&codec);
    std::free(bytes);
  }
  JpegWriter(const JpegWriter&) = delete;
};

bool write_rows(JpegWriter& writer, const unsigned char* values, const Shape& shape) {
  constexpr int kQuality = 75;
  if (setjmp(writer.error.return_point)) return false;
  jpeg_create_compress(&writer.codec);
  jpeg_mem_dest(&writer.codec, &writer.bytes, &writer.byte_count);
  writer.codec.image_height = static_cast<JDIMENSION>(shape[0]);
  writer.codec.image_width = static_cast<JDIMENSION>(shape[1]);
  writer.codec.input_components = static_cast<int>(shape[2]);
  writer.codec.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&writer.codec);
  jpeg_set_quality(&writer.codec, kQuality, TRUE);
  jpeg_start_compress(&writer.codec, TRUE);
  while (writer.codec.next_scanline < writer.codec.image_height) {
    auto* row = const_cast<unsigned char*>(values) +
                int64_t{writer.codec.next_scanline} * shape[1] * shape[2];
    jpeg_write_scanlines(&writer.codec, &row, 1);
  }
  jpeg_finish_compress(&writer.codec);
  return true;
}

}  // namespace

class Jpeg final : public ImageFormat {
 public:
  static void describe(Schema<Jpeg>& s) {
    s.doc("Photographs, packed with loss.")
        .trait("endings", List{".jpg", ".jpeg"})
        .trait("signatures", List{"ffd8ff"});
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    const Tensor image = image_to_write(path, arrays, {1, 3});
    JpegWriter writer;
    if (!write_rows(writer, image.data<uint8_t>(), image.shape()))
      fail("'", path, "' cannot be written as JPEG: ", writer.error.text);
    replace_file(path, std::string(reinterpret_cast<const char*>(writer.bytes), writer.byte_count));
  }

 private:
  Tensor decode(const std::string& path, std::string_view bytes) const override {
    return decode_jpeg(path, bytes);
  }
};

void add_jpeg(Registry& registry) { registry.add<Jpeg>("jpeg"); }

}  // namespace crescent::images
