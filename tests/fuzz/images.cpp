// Fuzzes the readers of images: for any bytes they must return pixels or an error. The first bytes
// select the format. PNG checksums are corrected, so that the code after the check is reached.
#include "images/image_file.h"

#include <zlib.h>

#include <algorithm>

using namespace crescent;
using namespace crescent::images;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr std::string_view kPng("\x89PNG\r\n\x1a\n");

struct Decoder {
  std::string_view signature;
  Tensor (*decode)(const std::string& path, std::string_view bytes);
};
constexpr Decoder kDecoders[] = {{kPng, decode_png},
                                 {"\xff\xd8", decode_jpeg},
                                 {"BM", decode_bmp},
                                 {"P5", decode_pnm},
                                 {"P6", decode_pnm}};

std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

uint64_t big_endian(const uint8_t* bytes) {
  return uint64_t{bytes[0]} << 24 | uint64_t{bytes[1]} << 16 | uint64_t{bytes[2]} << 8 | bytes[3];
}

/// Corrects the checksum of every PNG chunk. A chunk is length, name, data, and the checksum of
/// name and data.
void set_checksums(uint8_t* data, size_t size) {
  constexpr size_t kWord = 4, kChunkOverhead = 3 * kWord;
  for (size_t offset = kPng.size(); offset + kChunkOverhead <= size;) {
    const uint64_t length = big_endian(data + offset);
    if (length > size - offset - kChunkOverhead) return;
    const auto checksum = crc32_z(0, data + offset + kWord, kWord + length);
    offset += kChunkOverhead + length;
    for (size_t i = 0; i < kWord; ++i)
      data[offset - kWord + i] = static_cast<uint8_t>(checksum >> (24 - 8 * i));
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (text_of(data, size).starts_with(kPng)) set_checksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = text_of(data, size);
  const auto decoder = std::find_if(
      std::begin(kDecoders), std::end(kDecoders),
      [&](const Decoder& candidate) { return bytes.starts_with(candidate.signature); });
  try {
    if (decoder != std::end(kDecoders)) decoder->decode("fuzz", bytes);
  } catch (const Error&) {
  }
  return 0;
}
