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
  constexpr size_t kMaximum = size_t{8} << 20;
  FileProgress progress("reading", path_, count);
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(descriptor_, static_cast<std::byte*>(target) + done,
                              std::min(count - done, kMaximum), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '", path_, "': ", std::strerror(errno));
    if (got == 0) fail_end(offset + done);
    done += static_cast<size_t>(got);
    progress.add(static_cast<size_t>(got));
  }
}

void InputFile::check_reaches(size_t end) const {
  if (const size_t now = size(); now < end) fail_end(now);
}

void InputFile::fail_end(size_t offset) const {
  fail("'", path_, "' ends at offset ", offset,
       ", before the values that it had when it was opened");
}

}  // namespace crescent
