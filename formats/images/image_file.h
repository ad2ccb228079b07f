// The common part of image formats: an image is a tensor (height, width, channels) with 1 (grey), 2
// (grey, alpha), 3 (red, green, blue) or 4 channels, uint8, or int32 for samples of 16 bits.
//
// Unlike HDF5 files, images are decoded in the process of the user. A process for each would cost
// ten times as much as the image (a JPEG of 224 x 224 pixels takes 0.3 ms, starting the reader of
// HDF5 2.9 ms), and distributions maintain libpng and libjpeg. Instead sizes are checked before
// memory is allocated, the numbers of chunks and scans are limited, all damage is an error, and
// tests/fuzz covers the decoders.
#pragma once
#include <string_view>

#include "crescent/io/format.h"

namespace crescent::images {

/// Fails for sizes that are too large for an image, because a small file may claim any size.
void check_size(const std::string& path, uint64_t height, uint64_t width);
/// An uninitialized tensor (height, width, channels) for an image; fails if the size is too large.
Tensor blank_image(const std::string& path, uint64_t height, uint64_t width, int channels,
                   DType dtype = DType::uint8);
/// The image in `arrays`, which must contain exactly one array. Fails unless its number of channels
/// is one of `channels`.
Tensor image_to_write(const std::string& path, const NamedTensors& arrays,
                      std::initializer_list<int64_t> channels);

/// Decode an image from the bytes of a file; `path` is for messages.
Tensor decode_png(const std::string& path, std::string_view bytes);
Tensor decode_jpeg(const std::string& path, std::string_view bytes);
Tensor decode_bmp(const std::string& path, std::string_view bytes);
Tensor decode_pnm(const std::string& path, std::string_view bytes);

/// A format whose files hold one image.
class ImageFormat : public Format, public ReadsArrays, public WritesArrays {
 public:
  Tensor read_array(const std::string& path, const std::string& name) final;
  /// Reads the whole image to memory, because the rows in the file are compressed or padded, so
  /// they cannot be mapped.
  Tensor open_array(const std::string& path, const std::string& name) final {
    return read_array(path, name);
  }

 private:
  virtual Tensor decode(const std::string& path, std::string_view bytes) const = 0;
};

}  // namespace crescent::images
