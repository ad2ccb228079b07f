#include "memory.h"

#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace crescent::far {

Pages::Pages(size_t bytes) : bytes_(bytes > 0 ? bytes : 1) {
  void* start = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) fail("far: not enough memory for ", bytes, " bytes");
  start_ = static_cast<std::byte*>(start);
}

Pages::~Pages() { munmap(start_, bytes_); }

Pages::Access::Access(std::shared_ptr<Pages> pages) : pages_(std::move(pages)) {
  if (pages_->access_count_++ == 0)
    mprotect(pages_->start_, pages_->bytes_, PROT_READ | PROT_WRITE);
}

Pages::Access::~Access() {
  if (pages_ && --pages_->access_count_ == 0) mprotect(pages_->start_, pages_->bytes_, PROT_NONE);
}

/// Memory that need not be zeroed is filled with NaN, so that reads of uninitialized memory are
/// noticed.
std::shared_ptr<Storage> FarMemory::allocate(size_t bytes, bool zeroed) {
  auto storage = std::make_shared<FarStorage>(*this, bytes);
  if (!zeroed) {
    worker.submit(Worker::Kind::transfer, [pages = storage->pages(), bytes] {
      std::memset(Pages::Access(pages).bytes(), 0xff, bytes);
    });
  }
  return storage;
}

FarStorage::FarStorage(FarMemory& memory, size_t bytes)
    : DeviceStorage(memory, bytes),
      memory_of_device_(memory),
      pages_(std::make_shared<Pages>(bytes)) {}

void FarStorage::fetch(size_t offset, size_t count, void* target) const {
  memory_of_device_.traffic.count_download(count);
  memory_of_device_.worker.submit(Worker::Kind::transfer, [=, this] {
    std::memcpy(target, Pages::Access(pages_).bytes() + offset, count);
  });
  memory_of_device_.worker.finish();
}

void FarStorage::store(size_t offset, size_t count, const void* source) {
  memory_of_device_.traffic.count_upload(count);
  const auto* first = static_cast<const std::byte*>(source);
  memory_of_device_.worker.submit(
      Worker::Kind::transfer,
      [pages = pages_, offset, bytes = std::vector<std::byte>(first, first + count)] {
        std::memcpy(Pages::Access(pages).bytes() + offset, bytes.data(), bytes.size());
      });
}

bool FarStorage::copy_within(size_t offset, const Storage& from, size_t from_offset, size_t count) {
  memory_of_device_.worker.submit(
      Worker::Kind::transfer, [to = pages_, from = static_cast<const FarStorage&>(from).pages_,
                               offset, from_offset, count] {
        const Pages::Access source(from), target(to);
        std::memmove(target.bytes() + offset, source.bytes() + from_offset, count);
      });
  return true;
}

}  // namespace crescent::far
