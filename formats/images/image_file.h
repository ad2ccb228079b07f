// What formats of images have in common: an image is a tensor (height, width, channels) with 1
// (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 channels, uint8, or int32 where samples have
// 16 bits.
#pragma once
#include <string_view>

#include "crescent/format.h"

namespace crescent::images {

/// Fails for sizes that no picture has: a small file may claim any.
void check_size(const std::string& path, uint64_t height, uint64_t width);
/// A tensor of an image, not filled.
Tensor blank(const std::string& path, uint64_t height, uint64_t width, int channels,
             DType dtype = DType::uint8);
/// The one image that a file is given; fails unless it has one of the numbers of channels.
Tensor image_to_write(const std::string& path, const NamedTensors& arrays,
                      std::initializer_list<int64_t> channels);

/// A format whose files hold one image.
class ImageFormat : public Format, public ReadsArrays, public WritesArrays {
 public:
  Tensor read_array(const std::string& path, const std::string& place) final;
  /// In memory: rows are packed in files.
  Tensor open_array(const std::string& path, const std::string& place) final {
    return read_array(path, place);
  }

 private:
  virtual Tensor decode(const std::string& path, std::string_view bytes) const = 0;
};

}  // namespace crescent::images
