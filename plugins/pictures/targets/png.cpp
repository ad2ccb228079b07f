#include "targets/png.h"

#include <png.h>

#include "crescent/base/error.h"

namespace crescent::pictures {
namespace {

/// Encodes an image to `bytes`; if `bytes` is null, only sets `count` to the number of bytes that
/// is needed.
bool write_png(png_image& image, void* bytes, png_alloc_size_t& count, const uint8_t* rgb) {
  return png_image_write_to_memory(&image, bytes, &count, 0, rgb, 0, nullptr);
}

}  // namespace

std::string encode_png(const std::vector<uint8_t>& rgb, int64_t rows, int64_t columns) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(rows);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t count = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(count, '\0');
  if (!write_png(image, bytes.data(), count, rgb.data()))
    fail("an image of ", columns, " x ", rows, " pixels cannot be written as PNG: ", image.message);
  bytes.resize(count);
  return bytes;
}

}  // namespace crescent::pictures
