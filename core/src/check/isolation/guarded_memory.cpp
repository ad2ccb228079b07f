#include "check/isolation/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "crescent/base/error.h"

namespace crescent::check {
namespace {

constexpr auto kGuardByte = std::byte{0x5a};
const auto kPageSize = static_cast<size_t>(sysconf(_SC_PAGESIZE));
const size_t kMarginBytes = std::max<size_t>(kPageSize, 65536);

size_t whole_pages(size_t bytes) { return (bytes + kPageSize - 1) / kPageSize * kPageSize; }

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes, std::byte fill_byte, Placement placement)
    : bytes_(bytes), usable_bytes_(2 * kMarginBytes + whole_pages(bytes)) {
  void* pages =
      mmap(nullptr, usable_bytes_ + 2 * kPageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) fail("there is no memory for ", bytes, " bytes and their guards");
  pages_ = static_cast<std::byte*>(pages);
  std::byte* first_byte = pages_ + kPageSize;
  mprotect(first_byte, usable_bytes_, PROT_READ | PROT_WRITE);
  data_ = placement == Placement::aligned         ? first_byte + kMarginBytes
          : placement == Placement::at_first_page ? first_byte
                                                  : first_byte + usable_bytes_ - bytes;
  std::fill_n(first_byte, usable_bytes_, kGuardByte);
  std::fill_n(data_, bytes, fill_byte);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : bytes_(other.bytes_),
      usable_bytes_(other.usable_bytes_),
      pages_(std::exchange(other.pages_, nullptr)),
      data_(other.data_) {}

GuardedMemory::~GuardedMemory() {
  if (pages_) munmap(pages_, usable_bytes_ + 2 * kPageSize);
}

std::span<std::byte> GuardedMemory::bytes_before() const {
  return {pages_ + kPageSize, static_cast<size_t>(data_ - pages_) - kPageSize};
}

std::span<std::byte> GuardedMemory::bytes_after() const {
  return {data_ + bytes_, usable_bytes_ - bytes_before().size() - bytes_};
}

bool GuardedMemory::is_intact() const {
  const auto holds_pattern = [](std::span<std::byte> margin) {
    return std::all_of(margin.begin(), margin.end(),
                       [](std::byte byte) { return byte == kGuardByte; });
  };
  return holds_pattern(bytes_before()) && holds_pattern(bytes_after());
}

}  // namespace crescent::check
