// Images as Keras' functions take and give them: tensors (height, width, channels).
#pragma once
#include <optional>
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {

struct ImageSize {
  int64_t height, width;
};

/// Fails in Keras' words for other names. "grayscale": 1, "rgb": 3, "rgba": 4 channels.
int64_t channels_of(const std::string& color_mode);
/// What a file of any image format holds, in this many channels. Grey of 16 bits stays so.
Tensor read_image(const std::string& path, int64_t channels);
/// The image as float32 in another order of axes than files have.
Tensor with_channels_first(const Tensor& image);
/// Fails unless it is "channels_last" or "channels_first"; true for the second.
bool is_channels_first(const std::optional<std::string>& data_format);

}  // namespace crescent::lua
