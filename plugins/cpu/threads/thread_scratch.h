// Memory of the calling thread for what it holds only while it works on a part, shared by all
// kernels so that it stays in the thread's cache.
#pragma once
#include <cstddef>

namespace crescent::cpu {

/// 64-byte aligned, contents undefined, until the next call. Allocates only when it must grow, or
/// when for long far less was wanted.
std::byte* thread_scratch(size_t bytes);
/// The same for kernels within which other kernels run.
std::byte* slice_scratch(size_t bytes);

}  // namespace crescent::cpu
