#include "image_file.h"

#include <algorithm>

#include "crescent/system/file.h"

namespace crescent::images {

void check_size(const std::string& path, uint64_t height, uint64_t width) {
  // the largest number of pixels, the same as in Pillow
  constexpr uint64_t kMaxPixels = 178'956'970;
  if (height == 0 || width == 0)
    fail("'", path, "': an image of ", width, " x ", height, " pixels has nothing to show");
  if (width > kMaxPixels || height > kMaxPixels / width)
    fail("'", path, "': an image of ", width, " x ", height, " pixels; at most ", kMaxPixels,
         " pixels are read, so that a small file cannot fill the memory");
}

Tensor blank_image(const std::string& path, uint64_t height, uint64_t width, int channels,
                   DType dtype) {
  check_size(path, height, width);
  return Tensor::uninitialized(
      {dtype, {static_cast<int64_t>(height), static_cast<int64_t>(width), channels}});
}

Tensor image_to_write(const std::string& path, const NamedTensors& arrays,
                      std::initializer_list<int64_t> channels) {
  if (arrays.size() != 1) fail("'", path, "': an image file takes one array, got ", arrays.size());
  const Tensor image = arrays.front().second.to(nullptr);
  if (image.rank() != 3 || image.dtype() != DType::uint8)
    fail("'", path, "': expected an image, uint8(height, width, channels), got ", image.spec());
  check_size(path, static_cast<uint64_t>(image.dim(0)), static_cast<uint64_t>(image.dim(1)));
  if (std::find(channels.begin(), channels.end(), image.dim(2)) == channels.end())
    fail("'", path, "': this format takes images of ",
         join(
             [&] {
               std::vector<std::string> counts;
               for (const int64_t count : channels) counts.push_back(std::to_string(count));
               return counts;
             }(),
             " or "),
         " channels, got ", image.dim(2));
  return image;
}

Tensor ImageFormat::read_array(const std::string& path, const std::string& name) {
  if (!name.empty()) fail("'", path, "' holds one image; it has no place '", name, "'");
  return decode(path, read_file(path));
}

}  // namespace crescent::images
