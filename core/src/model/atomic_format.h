// Wraps formats of third-party plugins so that they keep the guarantees of built-in ones.
#pragma once
#include "crescent/io/format.h"

namespace crescent {

/// Returns a format that saves with the help of `format`, but replaces a file as a whole or not at
/// all, and whose errors name the path. A built-in format, which keeps these rules, is returned
/// unchanged. In a process that replays a recorded step, the returned format saves nothing.
FormatPtr with_atomic_saving(FormatPtr format);

}  // namespace crescent
