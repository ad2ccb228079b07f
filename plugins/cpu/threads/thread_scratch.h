// Scratch memory of the calling thread for the duration of one part, shared by all kernels so that
// it stays in the thread's cache.
#pragma once
#include <cstddef>

namespace crescent::cpu {

/// Returns 64-byte aligned, uninitialized memory, valid until the thread's next call. Allocates
/// only when it must grow, or may shrink after a long time of smaller uses.
std::byte* thread_scratch(size_t bytes);
/// Scratch memory for kernels that run other kernels, which use thread_scratch().
std::byte* slice_scratch(size_t bytes);

}  // namespace crescent::cpu
