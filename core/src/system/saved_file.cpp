#include "system/saved_file.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>

namespace crescent {
namespace {

/// Texts that stay where they are, so that a signal handler can read one while the other is
/// written. Longer paths are cut.
using PathText = std::array<char, 1000>;
PathText path_texts[2];
std::atomic<const PathText*> last_path = nullptr;
std::mutex writing;

}  // namespace

void note_saved_file(const std::string& path) {
  std::error_code ignored_error;
  const std::string absolute_path = std::filesystem::absolute(path, ignored_error).string();
  const std::lock_guard lock(writing);
  PathText& text = last_path == path_texts ? path_texts[1] : path_texts[0];
  text[absolute_path.copy(text.data(), text.size() - 1)] = '\0';
  last_path = &text;
}

std::string_view last_saved_file() {
  const PathText* text = last_path;
  return text ? text->data() : std::string_view();
}

}  // namespace crescent
