// Places the heap of the program in a huge page before anything is allocated. Registering what core
// provides touches some 190 pages of the heap, and where a hypervisor keeps page tables, each first
// access to a page takes 10 microseconds.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// Sanitizers replace malloc.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace crescent::program {
namespace {

/// Moves the end of the data segment, where malloc begins the heap, to one page before a huge page,
/// and asks for huge pages from there on. malloc writes into the first page when it extends the
/// segment; if that page were part of the huge page, the kernel would map small pages instead.
void place_heap() {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)),
             segment_end = reinterpret_cast<uintptr_t>(sbrk(0)),
             huge_page = (segment_end + page + kHugePage - 1) / kHugePage * kHugePage;
  sbrk(static_cast<intptr_t>(huge_page - page - segment_end));
  mallopt(M_TOP_PAD, kHugePage);
  // Any call of mallopt() ends the adaptation of the thresholds from which malloc maps and returns
  // memory by itself. These are the largest that it reaches; with the smallest, at which it begins,
  // oneDNN's products would map and unmap their buffers in every call.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  // The compiler would remove a pair of malloc and free whose pointer is not volatile.
  void* volatile first_block = malloc(1);
  madvise(reinterpret_cast<void*>(huge_page), kHugePage, MADV_HUGEPAGE);
  free(first_block);
}

/// The dynamic linker calls the functions of this section before those that initialize libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kPlaceHeap)() = place_heap;

}  // namespace
}  // namespace crescent::program
#endif
