#include "crescent/system/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "crescent/base/error.h"
#include "crescent/base/progress.h"
#include "crescent/system/interrupt.h"

namespace crescent {
namespace {

/// Names the type of something that is not a regular file: "a FIFO", "a socket".
const char* file_type_text(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder (directory)";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void fail_not_regular(const std::string& path, mode_t mode) {
  fail("cannot read '", path, "': it is ", file_type_text(mode), ", not a regular file");
}

/// Returns the end of a message about a missing file: " (did you mean 'model.h5'?)" if the folder
/// has a file with a similar name, otherwise the folder from which a relative path starts. Empty
/// for other errors.
std::string similar_files_hint(const std::filesystem::path& path, int error) {
  if (error != ENOENT) return "";
  std::error_code ignored;
  std::vector<std::string> names;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    names.push_back(entry.path().filename().string());
  const std::string suggestion = did_you_mean(path.filename().string(), names);
  if (!suggestion.empty() || path.is_absolute()) return suggestion;
  return concat("; the folder is '", std::filesystem::current_path(ignored).string(), "'");
}

}  // namespace

int open_regular_file(const std::string& path) {
  struct stat status {};
  // The type of the file is checked before opening, because opening a device can have an effect.
  if (stat(system_path(path), &status) == 0 && !S_ISREG(status.st_mode))
    fail_not_regular(path, status.st_mode);
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (const int error = errno; file < 0)
    fail("cannot read '", path, "': ", std::strerror(error), similar_files_hint(path, error));
  // The type is checked again, because another file may have replaced the first one.
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  ::close(file);
  fail_not_regular(path, status.st_mode);
}

/// A file smaller than a chunk is read into a buffer that has one byte more than the file. If that
/// byte is not filled, the end of the file has been reached, and the buffer need not grow.
std::string read_file(const std::string& path) {
  constexpr size_t kChunkBytes = size_t{1} << 20;
  const Descriptor file(open_regular_file(path));
  struct stat status {};
  fstat(file, &status);
  std::string text(std::min(static_cast<size_t>(status.st_size) + 1, kChunkBytes), '\0');
  FileProgress progress("reading", path, static_cast<size_t>(status.st_size));
  for (size_t size = 0;;) {
    heed_interruption(concat("'", path, "' was read"));
    if (size == text.size()) text.resize(size + kChunkBytes);
    const ssize_t count = ::read(file, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read '", path, "': ", std::strerror(errno));
    size += static_cast<size_t>(count);
    progress.add(static_cast<size_t>(count));
    if (count == 0) return text.resize(size), text;
  }
}

}  // namespace crescent
