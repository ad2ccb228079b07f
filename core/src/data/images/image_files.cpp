// Reading and writing of image files with a conversion of colours.
#include "crescent/data/images.h"
#include "crescent/io/format.h"
#include "crescent/ops/ops.h"

namespace crescent {
namespace {

/// The grey value of a colour by ITU-R 601 in integer arithmetic, as in Pillow.
template <class T>
T grey_of(const T* rgb) {
  return static_cast<T>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

/// Converts between grey, grey with alpha, colour, and colour with alpha.
template <class T>
void convert_pixels(const T* from, int64_t from_channels, T* to, int64_t to_channels,
                    int64_t pixels, T opaque) {
  for (int64_t i = 0; i < pixels; ++i, from += from_channels, to += to_channels) {
    const bool is_coloured = from_channels >= 3;
    if (to_channels == 1) {
      to[0] = is_coloured ? grey_of(from) : from[0];
      continue;
    }
    for (int c = 0; c < 3; ++c) to[c] = from[is_coloured ? c : 0];
    if (to_channels == 4)
      to[3] = from_channels == 4 ? from[3] : from_channels == 2 ? from[1] : opaque;
  }
}

}  // namespace

int64_t channels_of(const std::string& color_mode) {
  if (color_mode == "grayscale") return 1;
  if (color_mode == "rgb") return 3;
  if (color_mode == "rgba") return 4;
  fail("color_mode must be \"grayscale\", \"rgb\", or \"rgba\". Received: color_mode=", color_mode);
}

Tensor read_image(const std::string& path, int64_t channels) {
  const Tensor decoded_image = format_to_read<ReadsArrays>(path)->read_array(path, "");
  if (decoded_image.rank() != 3 || decoded_image.dim(2) < 1 || decoded_image.dim(2) > 4)
    fail("'", path, "' holds no image but an array ", decoded_image.spec());
  const bool is_int32 = decoded_image.dtype() == DType::int32;
  if (decoded_image.dim(2) == channels && (!is_int32 || channels == 1)) return decoded_image;
  const int64_t pixels = decoded_image.dim(0) * decoded_image.dim(1);
  const Tensor bytes =
      is_int32 ? ops::cast(ops::minimum(decoded_image, ops::Operand(255.0)), DType::uint8)
               : decoded_image;
  Tensor image({DType::uint8, {decoded_image.dim(0), decoded_image.dim(1), channels}});
  convert_pixels<uint8_t>(bytes.data<uint8_t>(), decoded_image.dim(2),
                          image.mutable_data<uint8_t>(), channels, pixels, 255);
  return image;
}

Tensor load_image(const std::string& path, const LoadImageOptions& options) {
  const Tensor image = read_image(path, channels_of(options.color_mode));
  if (!options.target_size) return image;
  const ImageSize size = *options.target_size;
  if (image.dim(0) == size.height && image.dim(1) == size.width) return image;
  const ImageRegion region =
      options.keep_aspect_ratio ? central_region(image, size) : whole_image(image);
  return resize_as_pillow(image, region, size, options.interpolation);
}

void save_image(const std::string& path, const Tensor& array, const SaveImageOptions& options) {
  Tensor image = array_to_image(array, options.data_format, options.scale);
  const auto& format_name = options.file_format;
  const auto format =
      format_name ? format_named<WritesArrays>(*format_name == "jpg" ? "jpeg" : *format_name)
                  : format_to_write<WritesArrays>(path);
  const bool is_jpeg = format_name ? *format_name == "jpg" || *format_name == "jpeg"
                                   : path.ends_with(".jpg") || path.ends_with(".jpeg");
  if (is_jpeg && image.dim(2) == 4) {
    warn("The JPG format does not support RGBA images, converting to RGB.");
    image = ops::slice(image, {0, 0, 0}, {-1, -1, 3});
  }
  format->write_arrays(path, {{"", image}});
}

}  // namespace crescent
