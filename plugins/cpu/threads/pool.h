// Our own threads: workers spin briefly, then sleep on a futex; the caller works too. A region is a
// plain function over parts 0..parts-1; nothing is allocated. Regions do not nest: inside one,
// parallel() runs its parts in the caller. When another thread is in a region, the caller does all
// of its own parts instead of waiting.
#pragma once
#include <atomic>
#include <cstdint>

#include "crescent/device/cpu_kernel.h"

namespace crescent::cpu {

/// How many pieces of this size, the last of which may be smaller, make up the whole.
constexpr int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }

class WorkTrace;

class Pool final : public CpuThreads {
 public:
  static constexpr int kMaxThreads = 64;
  explicit Pool(int threads);  ///< counts the caller
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  int threads() const override { return threads_.load(std::memory_order_relaxed); }
  /// Waits for the region that is running, then has so many threads.
  void resize(int threads);

  void run(int64_t parts, Body body, void* context, int most = INT_MAX) override;

 private:
  struct State;
  void run_timed(int64_t parts, Body body, void* context, int most, WorkTrace& trace);
  void run_parts(int64_t parts, Body body, void* context, int most);
  void start(int workers);
  void stop();
  State* state_;
  std::atomic<int> threads_;
};

}  // namespace crescent::cpu
