#include "images/functions.h"

#include <algorithm>

#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "images/resample.h"

namespace crescent::lua {
namespace {

using Text = std::optional<std::string>;

Tensor load_img(const std::string& path, const std::string& color_mode, Any target_size,
                const std::string& interpolation, bool keep_aspect_ratio) {
  lua_State* L = current();
  const Tensor image = read_image(path, channels_of(color_mode));
  if (lua_isnil(L, target_size.index)) return image;
  const auto [height, width] = size_at(L, target_size.index);
  if (image.dim(0) == height && image.dim(1) == width) return image;
  const Box box = keep_aspect_ratio ? middle_of(image, height, width) : whole(image);
  return pillow_resize(image, box, height, width, interpolation);
}

Tensor img_to_array(const Tensor& given, Text data_format, std::optional<DType> dtype) {
  const bool first = is_channels_first(data_format);
  Tensor image = ops::cast(given, dtype.value_or(DType::float32));
  if (image.rank() == 2) image = ops::expand_dims(image, -1);
  if (image.rank() != 3) fail("Unsupported image shape: ", image.shape());
  return first ? with_channels_first(image) : image;
}

/// Values from the least to the greatest become 0 to 255.
Tensor scaled_to_bytes(const Tensor& x) {
  const Tensor shifted = x - ops::min(x);
  const Tensor most = ops::max(shifted);
  const double range = most.item();
  return range == 0 ? shifted * Tensor(255.0f) : shifted / most * Tensor(255.0f);
}

Tensor array_to_img(const Tensor& given, Text data_format, bool scale, std::optional<DType> dtype) {
  const bool first = is_channels_first(data_format);
  if (given.rank() != 3)
    fail("Expected image array to have rank 3 (single image). Got array with shape: ",
         given.shape());
  Tensor x = ops::cast(given, dtype.value_or(DType::float32));
  if (first) x = ops::transpose(x, {1, 2, 0});
  const int64_t channels = x.dim(2);
  if (channels != 1 && channels != 3 && channels != 4)
    fail("Unsupported channel number: ", channels);
  if (scale) x = scaled_to_bytes(ops::cast(x, DType::float32));
  const bool deep = channels == 1 && x.size() > 0 && ops::max(x).item() > 255;
  return ops::cast(x, deep ? DType::int32 : DType::uint8);
}

void save_img(const std::string& path, const Tensor& x, Text data_format, Text file_format,
              bool scale) {
  Tensor image = array_to_img(x, data_format, scale, {});
  const auto format =
      file_format ? format_named<WritesArrays>(*file_format == "jpg" ? "jpeg" : *file_format)
                  : format_to_write<WritesArrays>(path);
  const bool jpeg = file_format ? *file_format == "jpg" || *file_format == "jpeg"
                                : path.ends_with(".jpg") || path.ends_with(".jpeg");
  if (jpeg && image.dim(2) == 4) {
    warn("The JPG format does not support RGBA images, converting to RGB.");
    image = ops::slice(image, {0, 0, 0}, {-1, -1, 3});
  }
  format->write_arrays(path, {{"", image}});
}

/// The last three axes; images before them one by one.
Tensor smart_resize(const Tensor& x, Any size, const std::string& interpolation,
                    const std::string& data_format) {
  const auto [height, width] = size_at(current(), size.index);
  const bool first = is_channels_first(data_format);
  if (x.rank() != 3 && x.rank() != 4)
    fail(
        "Expected an image array with shape `(height, width, channels)`, or `(batch_size, height, "
        "width, channels)`, but got input with incorrect rank, of shape ",
        x.shape(), ".");
  const bool single = x.rank() == 3;
  const Tensor batch = single ? ops::expand_dims(x, 0) : x;
  Tensors images;
  for (int64_t i = 0; i < batch.dim(0); ++i) {
    Tensor image = batch.view_rows(i, 1).view(batch.shape().slice(1, 4));
    if (first) image = ops::transpose(image, {1, 2, 0});
    image = plain_resize(image, middle_of(image, height, width), height, width, interpolation);
    images.push_back(first ? with_channels_first(image) : image);
  }
  return single ? images.front() : ops::stack(images, 0);
}

}  // namespace

ImageSize size_at(lua_State* L, int index) {
  const std::vector<int64_t> size = to_integers(L, index);
  if (size.size() == 1) return {size[0], size[0]};
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    fail("expected a size {height, width}, got ", describe(L, index));
  return {size[0], size[1]};
}

std::vector<CallablePtr> image_functions() {
  std::vector<CallablePtr> all;
  all.push_back(bound("load_img", &load_img,
                      {"path", "color_mode=rgb", "target_size=nil", "interpolation=nearest",
                       "keep_aspect_ratio=false"},
                      "An image file as a tensor (height, width, channels) of uint8; grey of 16 "
                      "bits as int32."));
  all.push_back(bound("img_to_array", &img_to_array, {"img", "data_format=nil", "dtype=nil"},
                      "An image as float32."));
  all.push_back(
      bound("array_to_img", &array_to_img, {"x", "data_format=nil", "scale=true", "dtype=nil"},
            "Values as an image of uint8; with scale the least becomes 0 and the greatest "
            "255."));
  all.push_back(bound("save_img", &save_img,
                      {"path", "x", "data_format=nil", "file_format=nil", "scale=true"},
                      "Writes an array as an image; the ending of the path tells the format."));
  all.push_back(bound("smart_resize", &smart_resize,
                      {"x", "size", "interpolation=bilinear", "data_format=channels_last"},
                      "The middle of images in the proportions of `size`, resized to it."));
  return all;
}

}  // namespace crescent::lua
