// Reads whole files into memory and decompresses gzip files.

#include <unistd.h>
#include <zlib.h>

#include <memory>

#include "crescent/base/error.h"
#include "crescent/base/progress.h"
#include "crescent/system/file.h"
#include "crescent/system/interrupt.h"

namespace crescent {

constexpr size_t kChunkBytes = size_t{1} << 20;

std::string read_file_unpacked(const std::string& path) {
  const std::string packed_bytes = read_file(path);
  if (!packed_bytes.starts_with("\x1f\x8b")) return packed_bytes;
  z_stream stream{};
  constexpr int kGzipWindowBits = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) fail("cannot unpack '", path, "'");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> stream_guard(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_bytes.data()));
  stream.avail_in = static_cast<uInt>(packed_bytes.size());
  const size_t max_bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) / 2;
  FileProgress progress("unpacking", path, packed_bytes.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    heed_interruption(concat("'", path, "' was unpacked"));
    const size_t size = text.size();
    text.resize(size + kChunkBytes);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = kChunkBytes;
    const uInt remaining_bytes = stream.avail_in;
    status = inflate(&stream, Z_NO_FLUSH);
    progress.add(remaining_bytes - stream.avail_in);
    text.resize(size + kChunkBytes - stream.avail_out);
    if (text.size() > max_bytes)
      fail("cannot unpack '", path, "': it grows to more than ", max_bytes,
           " bytes, half of this machine's memory");
  }
  if (status != Z_STREAM_END)
    fail("cannot unpack '", path, "': the gzip data is damaged or cut off after ", text.size(),
         " bytes");
  return text;
}

}  // namespace crescent
