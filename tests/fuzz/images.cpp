// Fuzzes the readers of images: for any bytes they must return pixels or an error. The first bytes
// select the format. PNG checksums are corrected, so that the code after the check is reached.
#include "images/image_file.h"

#include <zlib.h>

#include <algorithm>

using namespace crescent;
using namespace crescent::images;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

constexpr std::string_view kPng("\x89PNG\r\n\x1a\n");

struct Decoder {
  std::string_view beginning;
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

uint64_t big_endian(const uint8_t* at) {
  return uint64_t{at[0]} << 24 | uint64_t{at[1]} << 16 | uint64_t{at[2]} << 8 | at[3];
}

/// Corrects the checksum of every PNG chunk. A chunk is length, name, data, and the checksum of
/// name and data.
void set_checksums(uint8_t* data, size_t size) {
  constexpr size_t kWord = 4, kAround = 3 * kWord;
  for (size_t at = kPng.size(); at + kAround <= size;) {
    const uint64_t length = big_endian(data + at);
    if (length > size - at - kAround) return;
    const auto sum = crc32_z(0, data + at + kWord, kWord + length);
    at += kAround + length;
    for (size_t i = 0; i < kWord; ++i)
      data[at - kWord + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned) {
  size = LLVMFuzzerMutate(data, size, most);
  if (text_of(data, size).starts_with(kPng)) set_checksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = text_of(data, size);
  const auto decoder =
      std::find_if(std::begin(kDecoders), std::end(kDecoders),
                   [&](const Decoder& each) { return bytes.starts_with(each.beginning); });
  try {
    if (decoder != std::end(kDecoders)) decoder->decode("fuzz", bytes);
  } catch (const Error&) {
  }
  return 0;
}
