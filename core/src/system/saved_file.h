// The file of a model, of weights or of a training run that this process saved last, which the line
// about a crash names.
#pragma once
#include <string>
#include <string_view>

namespace crescent {

void note_saved_file(const std::string& path);
/// The absolute path, which ends with a zero byte; empty if nothing was saved. Signal handlers may
/// call this function.
std::string_view last_saved_file();

}  // namespace crescent
