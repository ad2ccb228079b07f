// Pages of a mapped file count as memory of this process once they were read. After release_pages
// they do not; the system still has them, for whoever reads there again.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace crescent::files {

/// Files up to this size are not worth the effort.
inline constexpr uint64_t kMostMapped = uint64_t{32} << 20;

/// The whole pages among these bytes of a file that is mapped and was not written to.
inline void release_pages(const void* bytes, size_t size) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes);
  const uintptr_t first = (begin + page - 1) / page * page, end = (begin + size) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace crescent::files
