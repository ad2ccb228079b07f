// Decoding of WAV files.
#pragma once
#include <string_view>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// The audio of a file as float32 (samples, channels); `path` is for messages.
Tensor decode_wav(const std::string& path, std::string_view bytes);

}  // namespace crescent
