#include "model/file_text.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "crescent/error.h"
#include "crescent/file.h"

namespace crescent {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

/// Closes at the end.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  int number() const { return number_; }
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

}  // namespace

std::string read_file_unpacked(const std::string& path) {
  const std::string packed = read_file(path);
  if (!packed.starts_with("\x1f\x8b")) return packed;
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) fail("cannot unpack '", path, "'");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closing(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  const size_t most = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) / 2;
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t size = text.size();
    text.resize(size + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = kChunk;
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(size + kChunk - stream.avail_out);
    if (text.size() > most) fail("cannot unpack '", path, "': it grows to more than ", most, " bytes, half of this machine's memory");
  }
  if (status != Z_STREAM_END) fail("cannot unpack '", path, "': the gzip data is damaged or cut off after ", text.size(), " bytes");
  return text;
}

void write_file(const std::string& path, std::span<const std::string> parts) {
  const std::string temporary = concat(path, ".", getpid(), ".tmp");
  try {
    File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.number() < 0) fail("cannot write '", path, "': ", std::strerror(errno));
    for (const std::string& part : parts) {
      for (size_t done = 0; done < part.size();) {
        const ssize_t count = ::write(file.number(), part.data() + done, part.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("cannot write '", path, "': ", std::strerror(errno));
        done += static_cast<size_t>(count);
      }
    }
    if (fsync(file.number()) != 0 || file.close() != 0 || rename(temporary.c_str(), path.c_str()) != 0)
      fail("cannot write '", path, "': ", std::strerror(errno));
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

}  // namespace crescent
