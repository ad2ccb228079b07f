// Parallel work on chunks of large arrays: the system reads files faster than one thread can
// compute checksums.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace crescent::files {

/// A range of bytes of the array with the index `array_index`.
struct Chunk {
  size_t array_index;
  uint64_t offset, size;
};

/// Splits arrays into chunks so that no two chunks share a huge page: if two threads were the first
/// to write to a page at the same time, the kernel would zero the page twice. `offsets` are the
/// offsets of the arrays from the start of a huge page.
inline std::vector<Chunk> chunks_of(const std::vector<uint64_t>& offsets,
                                    const std::vector<uint64_t>& sizes) {
  constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (uint64_t offset = 0, size; offset < sizes[i]; offset += size) {
      size = std::min(kHugePageBytes - (offsets[i] + offset) % kHugePageBytes, sizes[i] - offset);
      chunks.push_back({i, offset, size});
    }
  return chunks;
}

/// Calls work(i) for each i below `count`, in any order, and rethrows the first exception.
template <class F>
void in_parallel(size_t count, const F& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  auto run_items = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
    } catch (...) {
      next.store(count);
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  // Each thread gets at least kMinItemsPerThread items, since starting a thread takes time.
  constexpr size_t kMaxThreads = 8, kMinItemsPerThread = 2;
  size_t thread_count = std::min({count / kMinItemsPerThread, kMaxThreads,
                                  static_cast<size_t>(std::thread::hardware_concurrency())});
  std::vector<std::jthread> helper_threads;
  try {
    for (size_t i = 1; i < thread_count; ++i) helper_threads.emplace_back(run_items);
  } catch (const std::system_error&) {  // the threads that could be started do all the work
  }
  run_items();
  helper_threads.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace crescent::files
