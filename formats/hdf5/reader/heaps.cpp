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
uint64_t distance_to_next(std::string_view heap, uint64_t offset) {
  const auto object_index = number_at<uint16_t>(heap, offset);
  const auto size = number_at<uint64_t>(heap, offset + 8);
  if (object_index == 0) return size;
  return size > heap.size() ? size : kHeaderSize + (size + 7) / 8 * 8;
}

bool is_filled_by_objects(std::string_view heap) {
  for (uint64_t offset = kHeaderSize; offset + kHeaderSize <= heap.size();) {
    const uint64_t distance = distance_to_next(heap, offset);
    if (distance == 0 || distance > heap.size() - offset) return false;
    offset += distance;
  }
  return true;
}

/// The offset of the next heap, or the size of the image if there is none. memmem is several times
/// as fast as std::string_view::find.
size_t next_heap(std::string_view bytes, size_t start) {
  const std::string_view remaining = bytes.substr(start);
  const void* found =
      memmem(remaining.data(), remaining.size(), kSignature.data(), kSignature.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - bytes.data()) : bytes.size();
}

}  // namespace

void check_heaps(std::span<const std::byte> image) {
  constexpr size_t kMaxImageBytes = size_t{16} << 20;
  if (image.size() > kMaxImageBytes) return;
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  for (size_t heap_offset = next_heap(bytes, 0); heap_offset < bytes.size();
       heap_offset = next_heap(bytes, heap_offset + 1)) {
    const std::string_view remaining = bytes.substr(heap_offset);
    if (remaining.size() < kHeaderSize) return;
    const auto size = number_at<uint64_t>(remaining, kSizeOffset);
    if (size > remaining.size() || !is_filled_by_objects(remaining.substr(0, size)))
      refuse("it is damaged: its texts at byte " + std::to_string(heap_offset) + " have no end");
  }
}

}  // namespace crescent::hdf5
