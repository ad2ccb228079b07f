// Sound in the bytes of a WAV file.
#pragma once
#include <string_view>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// float32 (samples, channels); `path` is for messages.
Tensor decode_wav(const std::string& path, std::string_view bytes);

}  // namespace crescent
