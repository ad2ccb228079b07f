#include "images/functions.h"

namespace crescent::lua {
namespace {

using OptionalString = std::optional<std::string>;

ImageSize size_at(lua_State* L, int index) {
  const std::vector<int64_t> size = to_integers(L, index);
  if (size.size() == 1) return {size[0], size[0]};
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    fail("expected a size {height, width}, got ", describe(L, index));
  return {size[0], size[1]};
}

Tensor load_img(const std::string& path, const std::string& color_mode, Any target_size,
                const std::string& interpolation, bool keep_aspect_ratio) {
  return load_image(
      path, {color_mode, optional_size_at(target_size.index), interpolation, keep_aspect_ratio});
}

Tensor img_to_array(const Tensor& image, OptionalString data_format, std::optional<DType> dtype) {
  return image_to_array(image, data_format.value_or(kChannelsLast), dtype.value_or(DType::float32));
}

Tensor array_to_img(const Tensor& array, OptionalString data_format, bool scale,
                    std::optional<DType> dtype) {
  return array_to_image(array, data_format.value_or(kChannelsLast), scale,
                        dtype.value_or(DType::float32));
}

void save_img(const std::string& path, const Tensor& x, OptionalString data_format,
              OptionalString file_format, bool scale) {
  save_image(path, x, {data_format.value_or(kChannelsLast), file_format, scale});
}

Tensor resize_smartly(const Tensor& x, Any size, const std::string& interpolation,
                      const std::string& data_format) {
  return smart_resize(x, size_at(current(), size.index), interpolation, data_format);
}

}  // namespace

std::optional<ImageSize> optional_size_at(int index) {
  lua_State* L = current();
  if (lua_isnil(L, index)) return std::nullopt;
  return size_at(L, index);
}

std::vector<CallablePtr> image_functions() {
  std::vector<CallablePtr> callables;
  callables.push_back(
      bound("load_img", &load_img,
            {"path", "color_mode=rgb", "target_size: a list of two integers=nil",
             "interpolation=nearest", "keep_aspect_ratio=false"},
            "Loads an image file as a tensor (height, width, channels) of uint8; 16-bit "
            "grey images as int32."));
  callables.push_back(bound("img_to_array", &img_to_array, {"img", "data_format=nil", "dtype=nil"},
                            "An image as a float32 tensor."));
  callables.push_back(
      bound("array_to_img", &array_to_img, {"x", "data_format=nil", "scale=true", "dtype=nil"},
            "An image of uint8 from values; with scale they are stretched to 0..255."));
  callables.push_back(bound(
      "save_img", &save_img, {"path", "x", "data_format=nil", "file_format=nil", "scale=true"},
      "Saves an array as an image; the ending of the path chooses the format."));
  callables.push_back(bound(
      "smart_resize", &resize_smartly,
      {"x", "size: a list of two integers", "interpolation=bilinear", "data_format=channels_last"},
      "Crops images to the aspect ratio of `size` around the centre and resizes them."));
  return callables;
}

}  // namespace crescent::lua
