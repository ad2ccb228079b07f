// Wraps the file formats of third-party plugins so that, like built-in formats, they never leave an
// incomplete file.
#pragma once
#include "crescent/io/format.h"

namespace crescent {

/// Returns a format that saves with the help of `format`, but replaces a file as a whole or not at
/// all, and whose errors name the path. A built-in format does so by itself and is returned
/// unchanged. In a process that replays a recorded step, the returned format saves nothing.
FormatPtr with_atomic_saving(FormatPtr format);

}  // namespace crescent
