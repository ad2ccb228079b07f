// What formats of images have in common: an image is a tensor (height, width, channels) with 1
// (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 channels, uint8, or int32 where samples have
// 16 bits.
//
// Images are unpacked in the user's process, unlike HDF5 files: a process for each would cost ten
// times the image (a JPEG of 224 x 224 pixels takes 0.3 ms, starting the reader of HDF5 2.9 ms),
// and libpng and libjpeg are libraries that distributions mend. Instead sizes are checked before
// memory is taken, chunks and scans are counted, every damage is an error, and tests/fuzz feeds
// them bytes.
#pragma once
#include <string_view>

#include "crescent/io/format.h"

namespace crescent::images {

/// Fails for sizes that no picture has: a small file may claim any.
void check_size(const std::string& path, uint64_t height, uint64_t width);
/// A tensor of an image, not filled.
Tensor blank(const std::string& path, uint64_t height, uint64_t width, int channels,
             DType dtype = DType::uint8);
/// The one image that a file is given; fails unless it has one of the numbers of channels.
Tensor image_to_write(const std::string& path, const NamedTensors& arrays,
                      std::initializer_list<int64_t> channels);

/// The image in the bytes of a file; `path` is for messages.
Tensor decode_png(const std::string& path, std::string_view bytes);
Tensor decode_jpeg(const std::string& path, std::string_view bytes);
Tensor decode_bmp(const std::string& path, std::string_view bytes);
Tensor decode_pnm(const std::string& path, std::string_view bytes);

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
