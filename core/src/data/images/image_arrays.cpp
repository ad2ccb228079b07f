// Conversion of arrays to images and back.
#include "crescent/data/images.h"
#include "crescent/ops/ops.h"

namespace crescent {
namespace {

Tensor with_channels_first(const Tensor& image) { return ops::transpose(image, {2, 0, 1}); }

/// Scales values so that the least becomes 0 and the greatest 255.
Tensor scaled_to_bytes(const Tensor& x) {
  const Tensor from_zero = x - ops::min(x);
  const Tensor maximum = ops::max(from_zero);
  const double range = maximum.item();
  return range == 0 ? from_zero * Tensor(255.0f) : from_zero / maximum * Tensor(255.0f);
}

Tensor smartly_resized(Tensor image, ImageSize size, const std::string& interpolation,
                       bool channels_first) {
  if (channels_first) image = ops::transpose(image, {1, 2, 0});
  image = resize_as_tensorflow(image, central_region(image, size), size, interpolation);
  return channels_first ? with_channels_first(image) : image;
}

}  // namespace

bool is_channels_first(const std::string& data_format) {
  if (data_format != "channels_last" && data_format != "channels_first")
    fail("expected \"channels_last\" or \"channels_first\" as data_format, got \"", data_format,
         "\"");
  return data_format == "channels_first";
}

Tensor image_to_array(const Tensor& image, const std::string& data_format, DType dtype) {
  const bool channels_first = is_channels_first(data_format);
  Tensor array = ops::cast(image, dtype);
  if (array.rank() == 2) array = ops::expand_dims(array, -1);
  if (array.rank() != 3) fail("Unsupported image shape: ", array.shape());
  return channels_first ? with_channels_first(array) : array;
}

Tensor array_to_image(const Tensor& array, const std::string& data_format, bool scale,
                      DType dtype) {
  const bool channels_first = is_channels_first(data_format);
  if (array.rank() != 3)
    fail("Expected image array to have rank 3 (single image). Got array with shape: ",
         array.shape());
  Tensor x = ops::cast(array, dtype);
  if (channels_first) x = ops::transpose(x, {1, 2, 0});
  const int64_t channels = x.dim(2);
  if (channels != 1 && channels != 3 && channels != 4)
    fail("Unsupported channel number: ", channels);
  if (scale) x = scaled_to_bytes(ops::cast(x, DType::float32));
  const bool exceeds_byte = channels == 1 && x.size() > 0 && ops::max(x).item() > 255;
  return ops::cast(x, exceeds_byte ? DType::int32 : DType::uint8);
}

Tensor smart_resize(const Tensor& x, ImageSize size, const std::string& interpolation,
                    const std::string& data_format) {
  const bool channels_first = is_channels_first(data_format);
  if (x.rank() != 3 && x.rank() != 4)
    fail(
        "Expected an image array with shape `(height, width, channels)`, or `(batch_size, height, "
        "width, channels)`, but got input with incorrect rank, of shape ",
        x.shape(), ".");
  if (x.rank() == 3) return smartly_resized(x, size, interpolation, channels_first);
  Tensors images;
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const Tensor image = x.view_rows(i, 1).view(x.shape().slice(1, 4));
    images.push_back(smartly_resized(image, size, interpolation, channels_first));
  }
  return ops::stack(images, 0);
}

}  // namespace crescent
