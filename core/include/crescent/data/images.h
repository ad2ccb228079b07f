// Images in files and in arrays, as keras.utils reads, resizes and writes them. An image is a
// tensor (height, width, channels); pixels of files are uint8, grey ones of 16 bits int32.
//
//   Tensor image = load_image("cat.png", {.target_size = ImageSize{64, 64}});
//   save_image("small.png", smart_resize(image, {32, 32}));
#pragma once
#include <optional>
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct ImageSize {
  int64_t height = 0, width = 0;  ///< pixels
};

// ---- files, of every format that holds images

/// "grayscale": 1, "rgb": 3, "rgba": 4 channels. Fails in Keras' words for other names.
CRESCENT_API int64_t channels_of(const std::string& color_mode);
/// What a file holds, in this many channels: grey of colours is Pillow's (ITU-R 601 in whole
/// numbers), alpha that is not there is 255. Grey of 16 bits stays so where grey is asked for, and
/// is cut off at 255 else. Fails for a file whose array is no image.
CRESCENT_API Tensor read_image(const std::string& path, int64_t channels = 3);

struct LoadImageOptions {
  std::string color_mode = "rgb";
  std::optional<ImageSize> target_size = {};  ///< none: as it is
  std::string interpolation = "nearest";      ///< a filter of resize_as_pillow
  bool keep_aspect_ratio = false;             ///< cut out the middle first (central_region)
};
/// keras.utils.load_img.
CRESCENT_API Tensor load_image(const std::string& path, const LoadImageOptions& options = {});

struct SaveImageOptions {
  std::string data_format = "channels_last";
  std::optional<std::string> file_format = {};  ///< "png", "jpeg"; none: as the path ends
  bool scale = true;                            ///< as of array_to_image
};
/// keras.utils.save_img. A JPEG of four channels loses the alpha, with a warning.
CRESCENT_API void save_image(const std::string& path, const Tensor& array,
                             const SaveImageOptions& options = {});

// ---- arrays

/// True for "channels_first", false for "channels_last"; fails for other names.
CRESCENT_API bool is_channels_first(const std::string& data_format);
/// keras.utils.img_to_array: (height, width) or (height, width, channels) as numbers of `dtype`.
CRESCENT_API Tensor image_to_array(const Tensor& image,
                                   const std::string& data_format = "channels_last",
                                   DType dtype = DType::float32);
/// keras.utils.array_to_img: pixels of an array of 1, 3 or 4 channels. With `scale` the least value
/// becomes 0 and the greatest 255; values are computed in `dtype`. Grey beyond 255 is int32.
CRESCENT_API Tensor array_to_image(const Tensor& array,
                                   const std::string& data_format = "channels_last",
                                   bool scale = true, DType dtype = DType::float32);
/// keras.utils.smart_resize: the middle of an image, or of each of a batch of them, in the
/// proportions of `size`, resized to it as by resize_as_tensorflow.
CRESCENT_API Tensor smart_resize(const Tensor& images, ImageSize size,
                                 const std::string& interpolation = "bilinear",
                                 const std::string& data_format = "channels_last");

// ---- other sizes
//
// Three implementations resize, and their numbers differ on purpose:
//
// - resize_as_pillow has the bytes of Pillow, by which Keras loads files: the filter widens where
//   an image shrinks, sums are in fixed point, and pixels beyond the region count.
// - resize_as_tensorflow has the numbers of tf.image.resize without antialias, as Keras' datasets
//   and smart_resize do: the filter stays as wide as it is, results are fractions, and the edge of
//   the region is that of the image. It knows filters that the op has not, and computes on the
//   thread that reads the file.
// - image.resize of cr.ops is an op: it runs in compiled programs and has a gradient. It changes
//   the height before the width, so that its float32 results differ from those of the second by
//   roundings.

/// A part of an image, in pixels.
struct ImageRegion {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
CRESCENT_API ImageRegion whole_image(const Tensor& image);
/// The largest region in the middle of the image that has the proportions of `size`.
CRESCENT_API ImageRegion central_region(const Tensor& image, ImageSize size);
/// The image in the middle of the smallest one of zeros that has the proportions of `size`.
CRESCENT_API Tensor padded_to_aspect_ratio(const Tensor& image, ImageSize size);

/// Pillow's Image.resize of a region: uint8, or int32 of 16 bits, which stays. Filters: nearest,
/// bilinear, bicubic, hamming, box, lanczos.
CRESCENT_API Tensor resize_as_pillow(const Tensor& image, const ImageRegion& region, ImageSize size,
                                     const std::string& filter);
/// tf.image.resize of a region without antialias: float32. Filters: bilinear, nearest, bicubic,
/// area, lanczos3, lanczos5, gaussian, mitchellcubic.
CRESCENT_API Tensor resize_as_tensorflow(const Tensor& image, const ImageRegion& region,
                                         ImageSize size, const std::string& filter);
/// Fails where resize_as_tensorflow has no filter of this name.
CRESCENT_API void check_tensorflow_filter(const std::string& filter);

}  // namespace crescent
