// Our own threads: workers spin briefly, then sleep on a futex; the caller works too. A region is a
// plain function over parts 0..parts-1; nothing is allocated. Regions do not nest: inside one,
// parallel() runs its parts in the caller. When another thread is in a region, the caller does all
// of its own parts instead of waiting.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace crescent::cpu {

/// How many pieces of this size, the last of which may be smaller, make up the whole.
constexpr int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }

class WorkTrace;

class Pool {
 public:
  static constexpr int kMaxThreads = 64;
  explicit Pool(int threads);  ///< counts the caller
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Waits for the region that is running, then has so many threads.
  void resize(int threads);

  using Body = void (*)(void* context, int64_t part, int worker);
  /// Calls body(context, part, worker) once for every part < parts; which worker < most takes a
  /// part is not fixed. The first exception of a body is thrown again here, after the region has
  /// ended.
  void run(int64_t parts, Body body, void* context, int most = kMaxThreads);

  /// f(part, worker) for every part. Who has something for each worker says with `most` for how
  /// many: threads() may be more by the time that the region begins.
  template <class F>
  void parallel(int64_t parts, F&& f, int most = kMaxThreads) {
    run(
        parts,
        [](void* c, int64_t part, int worker) {
          (*static_cast<std::remove_reference_t<F>*>(c))(part, worker);
        },
        &f, most);
  }
  /// f(begin, end) over [0, n) in blocks of at least `grain`; small n runs in the caller. Block
  /// borders depend on n and grain only, never on the number of threads.
  template <class F>
  void blocks(int64_t n, int64_t grain, F&& f) {
    if (n <= grain) return f(int64_t{0}, n);
    parallel(pieces(n, grain), [&](int64_t part, int) {
      int64_t begin = part * grain;
      f(begin, begin + grain < n ? begin + grain : n);
    });
  }

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
