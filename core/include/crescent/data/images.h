// Functions that read, resize and write images in files and arrays as keras.utils does. An image is
// a tensor (height, width, channels); pixels of files are uint8, or int32 for 16-bit grayscale.
//
//   Tensor image = load_image("cat.png", {.target_size = ImageSize{64, 64}});
//   save_image("small.png", smart_resize(image, {32, 32}));
#pragma once
#include <optional>
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// The size of an image.
struct ImageSize {
  int64_t height = 0, width = 0;  ///< in pixels
};

// ---- image files of all formats

/// The number of channels: "grayscale" 1, "rgb" 3, "rgba" 4. Fails with Keras' message for other
/// names.
CRESCENT_API int64_t channels_of(const std::string& color_mode);
/// Reads an image and converts it to this number of channels. Colours become gray as in Pillow
/// (ITU-R 601 in integers); a missing alpha channel becomes 255. 16-bit gray stays int32 if
/// `channels` is 1, and is clipped to 255 otherwise. Fails for a file whose array is not an image.
CRESCENT_API Tensor read_image(const std::string& path, int64_t channels = 3);

/// The options of load_image(), with their names in Keras.
struct LoadImageOptions {
  std::string color_mode = "rgb";
  std::optional<ImageSize> target_size = {};  ///< nullopt: the size of the image in the file
  std::string interpolation = "nearest";      ///< the name of a filter of resize_as_pillow
  bool keep_aspect_ratio = false;             ///< whether central_region() is cut out first
};
/// Reads an image of any format, and resizes it, as keras.utils.load_img does: (height, width,
/// channels).
CRESCENT_API Tensor load_image(const std::string& path, const LoadImageOptions& options = {});

/// The options of save_image(), with their names in Keras.
struct SaveImageOptions {
  std::string data_format = "channels_last";
  /// "png" or "jpeg"; nullopt: the format that belongs to the path's extension
  std::optional<std::string> file_format = {};
  bool scale = true;  ///< the parameter `scale` of array_to_image
};
/// Writes an array as an image file, as keras.utils.save_img does. A JPEG of four channels loses
/// its alpha channel, with a warning.
CRESCENT_API void save_image(const std::string& path, const Tensor& array,
                             const SaveImageOptions& options = {});

// ---- arrays

/// Whether the name is "channels_first"; fails for names other than this and "channels_last".
CRESCENT_API bool is_channels_first(const std::string& data_format);
/// Converts an image (height, width) or (height, width, channels) to `dtype` and `data_format`, as
/// keras.utils.img_to_array does.
CRESCENT_API Tensor image_to_array(const Tensor& image,
                                   const std::string& data_format = "channels_last",
                                   DType dtype = DType::float32);
/// Converts an array of 1, 3 or 4 channels to pixels, as keras.utils.array_to_img does. With
/// `scale`, values are mapped linearly in `dtype` so that the minimum becomes 0 and the maximum
/// 255. Gray values above 255 give int32.
CRESCENT_API Tensor array_to_image(const Tensor& array,
                                   const std::string& data_format = "channels_last",
                                   bool scale = true, DType dtype = DType::float32);
/// Cuts the central region with the proportions of `size` out of an image, or each image of a
/// batch, and resizes it by resize_as_tensorflow, as keras.utils.smart_resize does.
CRESCENT_API Tensor smart_resize(const Tensor& images, ImageSize size,
                                 const std::string& interpolation = "bilinear",
                                 const std::string& data_format = "channels_last");

// ---- resizing
//
// There are three implementations of resizing, whose results differ on purpose:
//
// - resize_as_pillow gives the bytes of Pillow, with which Keras loads files: the filter is widened
//   when an image shrinks, sums are in fixed point, and pixels just outside the resized region
//   contribute.
// - resize_as_tensorflow gives the numbers of tf.image.resize without antialias, which Keras'
//   datasets and smart_resize use: the filter is not widened, results are not rounded, and only
//   pixels of the resized region contribute. It has filters that the op lacks, and runs on the
//   calling thread.
// - image.resize of cr.ops is an op: it runs in compiled programs and has a gradient. It changes
//   the height before the width, so its float32 results differ from those of resize_as_tensorflow
//   by rounding.

/// A part of an image, in pixels.
struct ImageRegion {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
/// The region of all pixels of the image.
CRESCENT_API ImageRegion whole_image(const Tensor& image);
/// The largest centred region of the image that has the proportions of `size`.
CRESCENT_API ImageRegion central_region(const Tensor& image, ImageSize size);
/// Returns the image with zeros added on two opposite sides so that it has the aspect ratio of
/// `size`.
CRESCENT_API Tensor padded_to_aspect_ratio(const Tensor& image, ImageSize size);

/// Resizes a region as Pillow's Image.resize does; the dtype, uint8 or int32, stays. Filters:
/// nearest, bilinear, bicubic, hamming, box, lanczos.
CRESCENT_API Tensor resize_as_pillow(const Tensor& image, const ImageRegion& region, ImageSize size,
                                     const std::string& filter);
/// Resizes a region as tf.image.resize does without antialias; the result is float32. Filters:
/// bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian, mitchellcubic.
CRESCENT_API Tensor resize_as_tensorflow(const Tensor& image, const ImageRegion& region,
                                         ImageSize size, const std::string& filter);
/// Fails if resize_as_tensorflow has no filter of this name.
CRESCENT_API void check_tensorflow_filter(const std::string& filter);

}  // namespace crescent
