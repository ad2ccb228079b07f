// Work on large arrays, cut into parts that any thread may take: files come faster to memory than
// one thread can look at them.
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

/// A chunk of the bytes of an array.
struct Chunk {
  size_t array;
  uint64_t offset, size;
};

/// Chunks within large pages: two threads that touch a new one first would both fill it with zeros.
/// `places` say where arrays begin, counted from such a page.
inline std::vector<Chunk> chunks_of(const std::vector<uint64_t>& places,
                                    const std::vector<uint64_t>& sizes) {
  constexpr uint64_t kPage = uint64_t{2} << 20;
  std::vector<Chunk> parts;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (uint64_t at = 0, size; at < sizes[i]; at += size) {
      size = std::min(kPage - (places[i] + at) % kPage, sizes[i] - at);
      parts.push_back({i, at, size});
    }
  return parts;
}

/// Calls work(i) for each i below `count`, in no order; what is thrown first is thrown again.
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
  constexpr size_t kMostThreads = 8, kLeastWork = 2;  // starting a thread takes time too
  size_t threads = std::min(
      {count / kLeastWork, kMostThreads, static_cast<size_t>(std::thread::hardware_concurrency())});
  std::vector<std::jthread> others;
  try {
    for (size_t i = 1; i < threads; ++i) others.emplace_back(take);
  } catch (const std::system_error&) {  // no more threads: those that there are do the work
  }
  take();
  others.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace crescent::files
