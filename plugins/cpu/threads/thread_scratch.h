// Scratch memory of the calling thread for the duration of one part of a region. All kernels share
// it, so that it stays in the thread's cache.
#pragma once
#include <cstddef>

namespace crescent::cpu {

/// Returns 64-byte aligned, uninitialized memory, valid until the thread's next call. Allocates
/// only if the memory must grow, or may shrink because callers have needed less for a long time.
std::byte* thread_scratch(size_t bytes);
/// Returns other scratch memory of the calling thread, for kernels that run other kernels, which
/// use thread_scratch().
std::byte* slice_scratch(size_t bytes);

}  // namespace crescent::cpu
