#include "data/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "crescent/base/error.h"
#include "crescent/base/progress.h"
#include "crescent/system/file.h"

namespace crescent {

InputFile::InputFile(const std::string& path) : InputFile(open_regular_file(path), path) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

size_t InputFile::size() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) fail("cannot read '", path_, "': ", std::strerror(errno));
  return static_cast<size_t>(status.st_size);
}

void InputFile::read(size_t offset, size_t count, void* target) const {
  constexpr size_t kMaxBlockBytes = size_t{8} << 20;
  FileProgress progress("reading", path_, count);
  for (size_t bytes_read = 0; bytes_read < count;) {
    const ssize_t block_bytes = pread(descriptor_, static_cast<std::byte*>(target) + bytes_read,
                                      std::min(count - bytes_read, kMaxBlockBytes),
                                      static_cast<off_t>(offset + bytes_read));
    if (block_bytes < 0 && errno == EINTR) continue;
    if (block_bytes < 0) fail("cannot read '", path_, "': ", std::strerror(errno));
    if (block_bytes == 0) fail_end(offset + bytes_read);
    bytes_read += static_cast<size_t>(block_bytes);
    progress.add(static_cast<size_t>(block_bytes));
  }
}

void InputFile::check_reaches(size_t end) const {
  if (const size_t current_size = size(); current_size < end) fail_end(current_size);
}

void InputFile::fail_end(size_t offset) const {
  fail("'", path_, "' ends at offset ", offset,
       ", before the values that it had when it was opened");
}

}  // namespace crescent
