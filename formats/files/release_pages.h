// Pages of a mapped file count as memory of this process after they were read. release_pages()
// removes them from the process; they stay in the page cache of the system.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace crescent::files {

/// Pages of files up to this size in bytes are not released.
inline constexpr uint64_t kMaxMappedBytes = uint64_t{32} << 20;

/// Releases those pages of a mapped file that lie completely within these bytes. The mapping must
/// not have been written to.
inline void release_pages(const void* bytes, size_t size) {
  static const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(bytes);
  const uintptr_t first_page = (address + page_size - 1) / page_size * page_size,
                  end = (address + size) / page_size * page_size;
  if (first_page < end)
    madvise(reinterpret_cast<void*>(first_page), end - first_page, MADV_DONTNEED);
}

}  // namespace crescent::files
