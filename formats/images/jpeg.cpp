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
  const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
                        code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_PROGRESSION;
  if (level < 0 && !harmless) on_error(codec);
}

void set_handlers(JpegError& error) {
  jpeg_std_error(&error.base);
  error.base.error_exit = on_error;
  error.base.emit_message = on_message;
}

struct JpegReading {
  JpegError error;
  jpeg_decompress_struct codec{};
  JpegReading() {
    set_handlers(error);
    codec.err = &error.base;
  }
  ~JpegReading() { jpeg_destroy_decompress(&codec); }
  JpegReading(const JpegReading&) = delete;
};

bool read_header(JpegReading& r, const unsigned char* bytes, size_t count) {
  if (setjmp(r.error.return_point)) return false;
  jpeg_create_decompress(&r.codec);
  jpeg_mem_src(&r.codec, bytes, static_cast<unsigned long>(count));
  jpeg_read_header(&r.codec, TRUE);
  const auto from = r.codec.jpeg_color_space;
  r.codec.out_color_space = from == JCS_GRAYSCALE                  ? JCS_GRAYSCALE
                            : from == JCS_CMYK || from == JCS_YCCK ? JCS_CMYK
                                                                   : JCS_RGB;
  jpeg_calc_output_dimensions(&r.codec);
  return true;
}

/// Reads the rows of the image. Fails after kMaxScans scans, because a progressive file may
/// contain any number of them.
bool read_rows(JpegReading& r, unsigned char* target, size_t row) {
  constexpr int kMaxScans = 500;
  if (setjmp(r.error.return_point)) return false;
  jpeg_start_decompress(&r.codec);
  while (r.codec.output_scanline < r.codec.output_height) {
    JSAMPROW at = target + r.codec.output_scanline * row;
    jpeg_read_scanlines(&r.codec, &at, 1);
    if (r.codec.input_scan_number > kMaxScans) ERREXIT(&r.codec, JERR_BAD_PROGRESSION);
  }
  jpeg_finish_decompress(&r.codec);
  return true;
}

/// Converts an image with the channels CMYK to RGB; `inverted`: the values are inverted, as
/// Photoshop writes them.
Tensor rgb_of_inks(const Tensor& inks, bool inverted) {
  Tensor image({DType::uint8, {inks.dim(0), inks.dim(1), 3}});
  const uint8_t* from = inks.data<uint8_t>();
  auto* to = image.mutable_data<uint8_t>();
  const auto brightness = [&](uint8_t ink) { return inverted ? ink : 255 - ink; };
  for (int64_t i = 0; i < inks.dim(0) * inks.dim(1); ++i)
    for (int c = 0; c < 3; ++c)
      to[3 * i + c] = static_cast<uint8_t>(
          (brightness(from[4 * i + 3]) * brightness(from[4 * i + c]) + 127) / 255);
  return image;
}

}  // namespace

Tensor decode_jpeg(const std::string& path, std::string_view bytes) {
  JpegReading r;
  const auto refuse = [&] { fail("'", path, "' cannot be read as JPEG: ", r.error.text); };
  if (!read_header(r, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size())) refuse();
  const int channels = r.codec.out_color_components;
  Tensor image = blank_image(path, r.codec.output_height, r.codec.output_width, channels);
  const size_t row = size_t{r.codec.output_width} * static_cast<size_t>(channels);
  if (!read_rows(r, image.mutable_data<uint8_t>(), row)) refuse();
  return channels == 4 ? rgb_of_inks(image, r.codec.saw_Adobe_marker) : image;
}

// ---- writing of JPEG files

namespace {

struct JpegWriting {
  JpegError error;
  jpeg_compress_struct codec{};
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  JpegWriting() {
    set_handlers(error);
    codec.err = &error.base;
  }
  ~JpegWriting() {
    jpeg_destroy_compress(&codec);
    std::free(bytes);
  }
  JpegWriting(const JpegWriting&) = delete;
};

bool write_rows(JpegWriting& w, const unsigned char* values, const Shape& shape) {
  constexpr int kQuality = 75;
  if (setjmp(w.error.return_point)) return false;
  jpeg_create_compress(&w.codec);
  jpeg_mem_dest(&w.codec, &w.bytes, &w.count);
  w.codec.image_height = static_cast<JDIMENSION>(shape[0]);
  w.codec.image_width = static_cast<JDIMENSION>(shape[1]);
  w.codec.input_components = static_cast<int>(shape[2]);
  w.codec.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&w.codec);
  jpeg_set_quality(&w.codec, kQuality, TRUE);
  jpeg_start_compress(&w.codec, TRUE);
  while (w.codec.next_scanline < w.codec.image_height) {
    auto* row =
        const_cast<unsigned char*>(values) + int64_t{w.codec.next_scanline} * shape[1] * shape[2];
    jpeg_write_scanlines(&w.codec, &row, 1);
  }
  jpeg_finish_compress(&w.codec);
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
    JpegWriting w;
    if (!write_rows(w, image.data<uint8_t>(), image.shape()))
      fail("'", path, "' cannot be written as JPEG: ", w.error.text);
    replace_file(path, std::string(reinterpret_cast<const char*>(w.bytes), w.count));
  }

 private:
  Tensor decode(const std::string& path, std::string_view bytes) const override {
    return decode_jpeg(path, bytes);
  }
};

void add_jpeg(Registry& registry) { registry.add<Jpeg>("jpeg"); }

}  // namespace crescent::images
