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

/// A range of bytes in the array with the index `array`.
struct Chunk {
  size_t array;
  uint64_t offset, size;
};

/// Splits arrays into chunks so that no two chunks share a huge page: if two threads were the first
/// to write to a page at the same time, the kernel would zero the page twice. `offsets` are the
/// offsets of the arrays from the start of a huge page.
inline std::vector<Chunk> chunks_of(const std::vector<uint64_t>& offsets,
                                    const std::vector<uint64_t>& sizes) {
  constexpr uint64_t kPage = uint64_t{2} << 20;
  std::vector<Chunk> parts;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (uint64_t at = 0, size; at < sizes[i]; at += size) {
      size = std::min(kPage - (offsets[i] + at) % kPage, sizes[i] - at);
      parts.push_back({i, at, size});
    }
  return parts;
}

/// Calls work(i) for each i below `count`, in any order, and rethrows the first exception.
template <class F>
void in_parallel(size_t count, const F& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  auto take = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
    } catch (...) {
      next.store(count);
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  // Each thread gets at least kMinWork items, since starting a thread takes time.
  constexpr size_t kMaxThreads = 8, kMinWork = 2;
  size_t threads = std::min(
      {count / kMinWork, kMaxThreads, static_cast<size_t>(std::thread::hardware_concurrency())});
  std::vector<std::jthread> others;
  try {
    for (size_t i = 1; i < threads; ++i) others.emplace_back(take);
  } catch (const std::system_error&) {  // the threads that could be started do all the work
  }
  take();
  others.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace crescent::files
