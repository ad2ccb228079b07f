// Host memory of tensors. Freed large blocks are cached, because getting zeroed pages from the
// kernel takes longer than most ops.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include "crescent/base/memory_error.h"
#include "tensor/memory.h"

namespace crescent {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMinCachedBytes = size_t{64} << 10;  // malloc caches smaller blocks itself
constexpr size_t kHugePageBytes = size_t{2} << 20;

std::atomic<void (*)(int64_t)> allocation_observer{nullptr};
std::atomic<uint64_t> allocation_counter{0};
std::atomic<int64_t> host_bytes{0}, device_bytes{0};  // bytes in storages that exist now
std::atomic<uint64_t> storage_count{0};

void add_to_live_bytes(std::atomic<int64_t>& live_bytes, int64_t bytes) {
  live_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (auto* notify = allocation_observer.load(std::memory_order_relaxed)) notify(bytes);
}

/// The memory of this machine or of its container. Linux grants larger allocations too, but kills
/// the process when it uses the memory.
size_t memory_limit() {
  static const size_t machine_memory = [] {
    size_t bytes =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t allowed_bytes = 0;
    if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> allowed_bytes)
      bytes = std::min(bytes, allowed_bytes);
    return bytes;
  }();
  return machine_memory;
}

size_t rounded_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Whether blocks of this size are mapped one by one instead of allocated by malloc. In the heap of
/// malloc, long-lived blocks end up between other blocks and keep the memory of freed ones from
/// being returned to the system.
#ifdef __SANITIZE_ADDRESS__
// With the address sanitizer, malloc allocates all blocks, so that accesses beyond a tensor are
// detected.
bool is_mapped(size_t) { return false; }
#else
bool is_mapped(size_t bytes) { return bytes >= size_t{128} << 10; }
#endif

size_t small_page_size() {
  static const auto page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return page_size;
}

/// The page size for a block: a huge page if the block fills at least half of one.
size_t page_size_of_block(size_t bytes) {
  return bytes < kHugePageBytes / 2 ? small_page_size() : kHugePageBytes;
}

/// The capacity of a block: a whole number of pages, so that blocks for slightly different sizes
/// are interchangeable.
size_t block_capacity(size_t bytes) {
  return rounded_up(bytes, is_mapped(bytes) ? page_size_of_block(bytes) : kAlignment);
}

/// The offset of the next block within its first page, which varies between blocks. If blocks began
/// at page boundaries, copies between them would take twice as long, because a processor assumes
/// that a load depends on a recent store with the same offset in its page (4K aliasing).
size_t next_block_offset() {
  static std::atomic<size_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) * kAlignment * 5 % size_t{4096};
}

/// The size of a mapped block, with one more page for its offset.
size_t mapped_bytes(size_t bytes) {
  return rounded_up(bytes, page_size_of_block(bytes)) + small_page_size();
}

/// Maps a block, with huge pages where the kernel grants them on request: training steps that use
/// about 100 MiB are 3 to 5 % faster with huge pages, and so are steps with weights of 1 or 2 MiB
/// each. Returns null when memory is exhausted.
std::byte* map_block(size_t bytes) {
  const size_t page_size = page_size_of_block(bytes), mapped_size = mapped_bytes(bytes);
  // room for aligning the block to the page size
  const size_t alignment_space = page_size == kHugePageBytes ? page_size : 0;
  void* memory = mmap(nullptr, mapped_size + alignment_space, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* memory_begin = static_cast<std::byte*>(memory);
  const size_t alignment_gap = rounded_up(reinterpret_cast<uintptr_t>(memory_begin), page_size) -
                               reinterpret_cast<uintptr_t>(memory_begin);
  if (alignment_gap > 0) munmap(memory_begin, alignment_gap);
  if (alignment_space > alignment_gap)
    munmap(memory_begin + alignment_gap + mapped_size, alignment_space - alignment_gap);
  if (alignment_space > 0)
    madvise(memory_begin + alignment_gap, mapped_size - small_page_size(), MADV_HUGEPAGE);
  return memory_begin + alignment_gap + next_block_offset();
}

/// Allocates a new block; returns null when memory is exhausted.
std::byte* allocate_block(size_t bytes) {
  if (is_mapped(bytes)) return map_block(bytes);
  return static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
}

void free_block(std::byte* memory, size_t bytes) {
  if (is_mapped(bytes))
    munmap(memory - reinterpret_cast<uintptr_t>(memory) % small_page_size(), mapped_bytes(bytes));
  else
    std::free(memory);
}

/// A cache of the most recently freed large blocks, for requests of about the same size.
class FreeBlocks {
 public:
  /// Takes a block from the cache and sets `capacity` to its capacity; returns null when no block
  /// fits.
  std::byte* take_block(size_t bytes, size_t& capacity) {
    std::lock_guard lock(mutex_);
    Block* best_block = nullptr;
    for (Block& block : blocks_) {
      const bool fits = block.memory && block.bytes >= bytes && block.bytes <= bytes + bytes / 4;
      if (fits && (!best_block || block.bytes < best_block->bytes)) best_block = &block;
    }
    if (!best_block) return nullptr;
    capacity = best_block->bytes;
    cached_bytes_ -= best_block->bytes, --block_count_;
    return std::exchange(best_block->memory, nullptr);
  }

  void add_block(std::byte* memory, size_t bytes) {
    const size_t max_bytes = max_cached_bytes();
    if (bytes > max_bytes) return free_block(memory, bytes);
    std::lock_guard lock(mutex_);
    const auto has_too_many_blocks = [&] {
      return block_count_ >= kMaxCachedBlocks && cached_bytes_ + bytes > kSmallCacheBytes;
    };
    while (cached_bytes_ + bytes > max_bytes || has_too_many_blocks() || blocks_[next_slot_].memory)
      drop_oldest();
    blocks_[next_slot_] = {memory, bytes};
    cached_bytes_ += bytes, ++block_count_;
    next_slot_ = (next_slot_ + 1) % kSlotCount;
  }

  void clear() {
    std::lock_guard lock(mutex_);
    while (block_count_ > 0) drop_oldest();
  }

 private:
  struct Block {
    std::byte* memory = nullptr;
    size_t bytes = 0;
  };
  /// Frees the block that was cached first.
  void drop_oldest() {
    for (size_t i = 0; i < kSlotCount; ++i) {
      Block& block = blocks_[(next_slot_ + i) % kSlotCount];
      if (!block.memory) continue;
      cached_bytes_ -= block.bytes, --block_count_;
      free_block(std::exchange(block.memory, nullptr), block.bytes);
      return;
    }
  }

  static constexpr size_t kSlotCount = 160;
  /// At most kMaxCachedBlocks blocks are cached, or more as long as they have less than
  /// kSmallCacheBytes bytes together, because garbage collection frees many small blocks at once.
  static constexpr size_t kMaxCachedBlocks = 24, kSmallCacheBytes = size_t{10} << 20;
  /// The limit of cached bytes, which grows with the bytes in use.
  static size_t max_cached_bytes() {
    constexpr size_t kMinLimit = size_t{64} << 20, kMaxLimit = size_t{128} << 20;
    return std::min(kMaxLimit,
                    kMinLimit + static_cast<size_t>(std::max<int64_t>(host_bytes.load(), 0)) / 2);
  }
  std::mutex mutex_;
  Block blocks_[kSlotCount];
  size_t next_slot_ = 0, block_count_ = 0, cached_bytes_ = 0;
};

/// The cache is never destroyed, because static objects may still hold tensors when the process
/// exits.
FreeBlocks& free_blocks() {
  static auto* blocks = new FreeBlocks;
  return *blocks;
}

class HostStorage final : public Storage {
 public:
  HostStorage(size_t bytes, bool zeroed) {
    bytes_ = bytes;
    capacity_ = block_capacity(std::max<size_t>(bytes, 1));
    host_ = obtain_block();
    if (zeroed) std::memset(host_, 0, bytes);
    add_to_live_bytes(host_bytes, static_cast<int64_t>(bytes_));
  }
  ~HostStorage() override {
    if (capacity_ >= kMinCachedBytes) {
      free_blocks().add_block(host_, capacity_);
    } else {
      std::free(host_);
    }
    add_to_live_bytes(host_bytes, -static_cast<int64_t>(bytes_));
  }

 private:
  std::byte* obtain_block() {
    const size_t wanted_capacity = capacity_;
    if (wanted_capacity >= kMinCachedBytes) {
      if (std::byte* block = free_blocks().take_block(wanted_capacity, capacity_)) return block;
    }
    if (std::byte* memory = allocate_block(wanted_capacity)) return memory;
    free_blocks().clear();
    if (std::byte* memory = allocate_block(wanted_capacity)) return memory;
    throw MemoryError(concat("not enough memory for ", bytes_, " bytes"));
  }
  size_t capacity_ = 0;
};

/// A storage whose memory is part of the object, so that object and memory are allocated together.
class SmallStorage final : public Storage {
 public:
#ifdef __SANITIZE_ADDRESS__
  // With the address sanitizer, every storage has its own block, so that accesses beyond a tensor
  // are detected.
  static constexpr size_t kMaxBytes = 0;
#else
  static constexpr size_t kMaxBytes = 128;
#endif
  SmallStorage(size_t bytes, bool zeroed) {
    bytes_ = bytes;
    const auto address = reinterpret_cast<uintptr_t>(memory_);
    host_ = memory_ + ((address + kAlignment - 1) / kAlignment * kAlignment - address);
    if (zeroed) std::memset(host_, 0, bytes);
    add_to_live_bytes(host_bytes, static_cast<int64_t>(bytes_));
  }
  ~SmallStorage() override { add_to_live_bytes(host_bytes, -static_cast<int64_t>(bytes_)); }

 private:
  std::byte memory_[kMaxBytes + kAlignment];
};

}  // namespace

Memory::~Memory() = default;

Storage::Storage() : storage_id_(storage_count.fetch_add(1, std::memory_order_relaxed) + 1) {}
Storage::~Storage() = default;

void Storage::copy_bytes(void* target, const void* source, size_t count) {
  if (count > 0) std::memcpy(target, source, count);
}

void Storage::write(size_t offset, size_t count, const void* source) {
  bump_version();
  host_ ? copy_bytes(host_ + offset, source, count) : store(offset, count, source);
}

void Storage::copy(size_t offset, const Storage& from, size_t from_offset, size_t count) {
  if (from.host_) return write(offset, count, from.host_ + from_offset);
  bump_version();
  if (host_) return from.fetch(from_offset, count, host_ + offset);
  if (from.memory_ == memory_ && copy_within(offset, from, from_offset, count)) return;
  const std::shared_ptr<Storage> host_copy = allocate(count, false);
  from.fetch(from_offset, count, host_copy->host_);
  store(offset, count, host_copy->host_);
}

void Storage::fetch(size_t, size_t, void*) const {
  assert(false && "these values are on the host");
}

void Storage::store(size_t, size_t, const void*) {
  fail("values in ", location(), " cannot be written");
}

bool Storage::copy_within(size_t, const Storage&, size_t, size_t) { return false; }

namespace {

/// One lock for all copies between memories. Such copies are rare without a device that has its own
/// memory.
std::recursive_mutex& copy_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

std::shared_ptr<Storage> Storage::copy_in(Memory* memory) const {
  const std::lock_guard lock(copy_mutex());
  const uint64_t write_count = write_count_.load(std::memory_order_relaxed);
  const auto new_copy = [&] {
    return memory ? memory->allocate(bytes_, false) : allocate(bytes_, false);
  };
  // After move_to_host(), copy_ is not a copy: it owns the host memory of this storage.
  if (copy_ && host_ && copy_->host_ == host_) {
    const std::shared_ptr<Storage> copy = new_copy();
    copy->copy(0, *this, 0, bytes_);
    return copy;
  }
  const bool is_in_memory = copy_ && copy_->memory_ == memory;
  if (is_in_memory && copied_write_count_ == write_count && !is_exposed()) return copy_;
  // A copy that tensors still use must not change, so a new one is made.
  if (!is_in_memory || copy_.use_count() > 1) copy_ = new_copy();
  copied_write_count_ =
      write_count - 1;  // The copy counts as outdated until copying has succeeded.
  copy_->copy(0, *this, 0, bytes_);
  copied_write_count_ = write_count;
  return copy_;
}

void Storage::move_to_host() {
  const std::lock_guard lock(copy_mutex());
  if (!memory_) return;
  host_ = copy_in(nullptr)->host_;
  memory_ = nullptr;
}

DeviceStorage::DeviceStorage(Memory& memory, size_t bytes) {
  memory_ = &memory;
  bytes_ = bytes;
  allocation_counter.fetch_add(1, std::memory_order_relaxed);
  add_to_live_bytes(device_bytes, static_cast<int64_t>(bytes));
}

DeviceStorage::~DeviceStorage() { add_to_live_bytes(device_bytes, -static_cast<int64_t>(bytes_)); }

std::string Storage::location() const { return "memory"; }

void expect_memory(size_t bytes) {
  const size_t bytes_in_use = host_bytes.load(std::memory_order_relaxed);
  if (bytes > memory_limit() - std::min(memory_limit(), bytes_in_use))
    throw MemoryError(concat("not enough memory for ", bytes, " bytes: tensors hold ", bytes_in_use,
                             " of ", memory_limit()));
}

std::shared_ptr<Storage> Storage::allocate(size_t bytes, bool zeroed) {
  expect_memory(bytes);
  allocation_counter.fetch_add(1, std::memory_order_relaxed);
  if (bytes <= SmallStorage::kMaxBytes) return std::make_shared<SmallStorage>(bytes, zeroed);
  return std::make_shared<HostStorage>(bytes, zeroed);
}

void give_back_memory() {
  free_blocks().clear();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void set_allocation_observer(void (*notify)(int64_t bytes)) { allocation_observer.store(notify); }
uint64_t allocation_count() { return allocation_counter.load(std::memory_order_relaxed); }
int64_t allocated_bytes() { return host_bytes.load() + device_bytes.load(); }

}  // namespace crescent
