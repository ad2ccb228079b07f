#include "check/isolation/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "crescent/base/error.h"

namespace crescent::check {
namespace {

constexpr auto kGuard = std::byte{0x5a};
const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
const size_t kMargin = std::max<size_t>(kPage, 65536);

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes, std::byte fill, Fit fit)
    : bytes_(bytes), usable_(2 * kMargin + whole_pages(bytes)) {
  void* made = mmap(nullptr, usable_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("there is no memory for ", bytes, " bytes and their guards");
  pages_ = static_cast<std::byte*>(made);
  std::byte* first = pages_ + kPage;
  mprotect(first, usable_, PROT_READ | PROT_WRITE);
  data_ = fit == Fit::aligned         ? first + kMargin
          : fit == Fit::at_first_page ? first
                                      : first + usable_ - bytes;
  std::fill_n(first, usable_, kGuard);
  std::fill_n(data_, bytes, fill);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : bytes_(other.bytes_),
      usable_(other.usable_),
      pages_(std::exchange(other.pages_, nullptr)),
      data_(other.data_) {}

GuardedMemory::~GuardedMemory() {
  if (pages_) munmap(pages_, usable_ + 2 * kPage);
}

std::span<std::byte> GuardedMemory::before() const {
  return {pages_ + kPage, static_cast<size_t>(data_ - pages_) - kPage};
}

std::span<std::byte> GuardedMemory::behind() const {
  return {data_ + bytes_, usable_ - before().size() - bytes_};
}

bool GuardedMemory::is_intact() const {
  const auto holds = [](std::span<std::byte> margin) {
    return std::all_of(margin.begin(), margin.end(), [](std::byte each) { return each == kGuard; });
  };
  return holds(before()) && holds(behind());
}

}  // namespace crescent::check
