// Pool: the worker threads of the cpu device. Workers that wait spin for a short time, then sleep
// on a futex; the calling thread works too. A parallel region calls a function for the parts 0 to
// parts - 1; nothing is allocated. Regions do not nest: within a region, parallel() runs all parts
// on the calling thread. If another thread is in a region, the caller runs all of its parts itself
// instead of waiting.
#pragma once
#include <atomic>
#include <cstdint>

#include "crescent/device/cpu_kernel.h"

namespace crescent::cpu {

/// The number of pieces of size `piece` that make up `whole`; the last one may be smaller.
constexpr int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }

class WorkTrace;

class Pool final : public CpuThreads {
 public:
  static constexpr int kMaxThreads = 64;
  /// `threads` is the number of threads, which includes the calling one.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  int threads() const override { return threads_.load(std::memory_order_relaxed); }
  /// Waits for the running region to end, then sets the number of threads.
  void resize(int threads);

  void run(int64_t parts, Body body, void* context, int max_threads = INT_MAX) override;

 private:
  struct State;
  void run_timed(int64_t parts, Body body, void* context, int max_threads, WorkTrace& trace);
  void run_parts(int64_t parts, Body body, void* context, int max_threads);
  void start(int workers);
  void stop();
  State* state_;
  std::atomic<int> threads_;
};

}  // namespace crescent::cpu
