#include "heaps.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "refusal.h"

namespace crescent::hdf5 {
namespace {

/// The signature and the version of a global heap. Only heaps of files that store sizes in 8 bytes
/// are checked; in other files a damaged heap can make libhdf5 loop until the reader's time is up.
constexpr std::string_view kSignature = "GCOL\1";
/// The offset of the size of a heap in its header.
constexpr uint64_t kSizeOffset = 8;
/// The size in bytes of the header of a heap and of the header of each object in it.
constexpr uint64_t kHeaderSize = 16;

template <class T>
T number_at(std::string_view bytes, uint64_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

/// The distance in bytes from the object at `offset` to the next one. The free space at the end of
/// a heap is stored as an object with index 0, whose size includes its header.
uint64_t step_from(std::string_view heap, uint64_t offset) {
  const auto number = number_at<uint16_t>(heap, offset);
  const auto size = number_at<uint64_t>(heap, offset + 8);
  if (number == 0) return size;
  return size > heap.size() ? size : kHeaderSize + (size + 7) / 8 * 8;
}

bool is_whole(std::string_view heap) {
  for (uint64_t offset = kHeaderSize; offset + kHeaderSize <= heap.size();) {
    const uint64_t step = step_from(heap, offset);
    if (step == 0 || step > heap.size() - offset) return false;
    offset += step;
  }
  return true;
}

/// The offset of the next heap, or the size of the image if there is none. memmem is several times
/// as fast as find.
size_t next_heap(std::string_view bytes, size_t from) {
  const std::string_view rest = bytes.substr(from);
  const void* found = memmem(rest.data(), rest.size(), kSignature.data(), kSignature.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - bytes.data()) : bytes.size();
}

}  // namespace

void check_heaps(std::span<const std::byte> image) {
  constexpr size_t kMaxImageBytes = size_t{16} << 20;
  if (image.size() > kMaxImageBytes) return;
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  for (size_t at = next_heap(bytes, 0); at < bytes.size(); at = next_heap(bytes, at + 1)) {
    const std::string_view rest = bytes.substr(at);
    if (rest.size() < kHeaderSize) return;
    const auto size = number_at<uint64_t>(rest, kSizeOffset);
    if (size > rest.size() || !is_whole(rest.substr(0, size)))
      refuse("it is damaged: its texts at byte " + std::to_string(at) + " have no end");
  }
}

}  // namespace crescent::hdf5
