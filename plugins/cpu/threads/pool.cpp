#include "threads/pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "crescent/system/thread.h"
#include "threads/flush_denormals.h"
#include "threads/relax.h"
#include "threads/work_trace.h"

namespace crescent::cpu {
namespace {

// The state of a region in one word, so that workers join the region and the caller closes it by
// single atomic operations. Bit 0: workers may join; bit 1: the caller sleeps until they have left;
// bits 2 to 15: the number of workers inside; bits 16 to 31: a count of regions. A worker that
// wakes up late finds the region closed and does nothing.
constexpr uint32_t kOpen = 1, kCallerSleeps = 2, kOneWorker = 4, kInsideMask = 0xfffc,
                   kOneRegion = 0x10000;

/// The time for which a waiting thread spins before it sleeps. A longer time makes training 3 %
/// faster if every thread has a core, and 10 % slower if threads share one.
constexpr auto kSpinTime = std::chrono::microseconds(40);

thread_local bool inside_region = false;

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr,
          nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr,
          nullptr, 0);
}

/// Spins until done() is true or kSpinTime has passed; returns whether done() is true.
template <class F>
bool spin_until(F&& is_done) {
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (is_done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

/// The range of parts with which a worker begins. It is the same in every region with the same
/// number of parts, so that the worker finds its data in its cache. When its range is done, the
/// worker takes parts from the ranges of other workers.
struct alignas(64) Share {
  std::atomic<int64_t> next_part{0};
  int64_t end = 0;
};

struct Pool::State {
  alignas(64) std::atomic<uint32_t> word{0};
  Share shares[kMaxThreads];
  int share_count = 0;
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> is_stopping{false};
  Body body = nullptr;
  void* context = nullptr;
  std::atomic<bool> has_failed{false};
  std::exception_ptr error;
  // locked by the caller of a region, so that only one region runs at a time
  std::mutex caller_mutex;
  std::vector<std::thread> workers;

  void run_parts_as(int worker) {
    if (worker >= share_count) return;
    inside_region = true;
    try {
      for (int i = 0; i < share_count; ++i) {
        Share& share = shares[(worker + i) % share_count];
        for (int64_t part;
             (part = share.next_part.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
          body(context, part, worker);
        }
      }
    } catch (...) {
      if (!has_failed.exchange(true)) error = std::current_exception();
      for (Share& share : shares) share.next_part.store(share.end, std::memory_order_relaxed);
    }
    inside_region = false;
  }

  void divide(int64_t parts, int count) {
    share_count = count;
    for (int i = 0; i < count; ++i) {
      shares[i].next_part.store(parts * i / count, std::memory_order_relaxed);
      shares[i].end = parts * (i + 1) / count;
    }
  }

  bool has_new_region_or_stops(uint32_t last_region) const {
    uint32_t current_word = word.load(std::memory_order_acquire);
    return ((current_word & kOpen) && current_word / kOneRegion != last_region) ||
           is_stopping.load(std::memory_order_relaxed);
  }

  void wait_for_region(uint32_t last_region) {
    if (spin_until([&] { return has_new_region_or_stops(last_region); })) return;
    sleepers.fetch_add(1);
    for (;;) {
      uint32_t current_word = word.load();
      if (has_new_region_or_stops(last_region)) break;
      futex_wait(word, current_word);
    }
    sleepers.fetch_sub(1);
  }

  void loop(int worker) {
    const FlushDenormals flush;
    for (uint32_t last_region = 0;;) {
      wait_for_region(last_region);
      if (is_stopping.load()) return;
      uint32_t current_word = word.load(std::memory_order_acquire);
      if (!(current_word & kOpen) || current_word / kOneRegion == last_region) continue;
      if (!word.compare_exchange_weak(current_word, current_word + kOneWorker,
                                      std::memory_order_acq_rel))
        continue;
      last_region = current_word / kOneRegion;
      run_parts_as(worker);
      uint32_t remaining_state = word.fetch_sub(kOneWorker, std::memory_order_acq_rel) - kOneWorker;
      if ((remaining_state & kInsideMask) == 0 && (remaining_state & kCallerSleeps))
        futex_wake(word);
    }
  }

  void open() {
    uint32_t region = word.load(std::memory_order_relaxed) / kOneRegion + 1;
    word.store((region * kOneRegion) | kOpen);
    if (sleepers.load() > 0) futex_wake(word);
  }

  void close() {
    word.fetch_and(~kOpen);
    auto is_empty = [&] { return (word.load(std::memory_order_acquire) & kInsideMask) == 0; };
    if (spin_until(is_empty)) return;
    for (;;) {
      uint32_t current_word = word.fetch_or(kCallerSleeps) | kCallerSleeps;
      if ((current_word & kInsideMask) == 0) break;
      futex_wait(word, current_word);
    }
  }
};

Pool::Pool(int threads) : state_(new State), threads_(1) { start(threads); }

Pool::~Pool() {
  stop();
  delete state_;
}

void Pool::start(int threads) {
  threads = std::clamp(threads, 1, kMaxThreads);
  state_->is_stopping = false;
  state_->workers.reserve(threads);
  for (int worker = 1; worker < threads; ++worker) {
    std::thread thread = start_thread([this, worker] { state_->loop(worker); });
    if (!thread.joinable()) break;
    state_->workers.push_back(std::move(thread));
  }
  threads_ = static_cast<int>(state_->workers.size()) + 1;
}

void Pool::stop() {
  state_->is_stopping = true;
  // The change of `word` also wakes workers that are just about to sleep.
  state_->word.fetch_add(kOneRegion);
  futex_wake(state_->word);
  for (std::thread& worker : state_->workers) worker.join();
  state_->workers.clear();
}

void Pool::resize(int threads) {
  std::lock_guard lock(state_->caller_mutex);
  stop();
  start(threads);
}

void Pool::run(int64_t parts, Body body, void* context, int max_threads) {
  WorkTrace* trace = WorkTrace::current();
  trace ? run_timed(parts, body, context, max_threads, *trace)
        : run_parts(parts, body, context, max_threads);
}

void Pool::run_timed(int64_t parts, Body body, void* context, int max_threads, WorkTrace& trace) {
  using Clock = WorkTrace::Clock;
  trace.begin_region(parts);
  auto timed = [&](int64_t part, int worker) {
    const auto begin = Clock::now();
    body(context, part, worker);
    trace.set_part_time(part, Clock::now() - begin);
  };
  run_parts(
      parts,
      [](void* c, int64_t part, int worker) { (*static_cast<decltype(timed)*>(c))(part, worker); },
      &timed, max_threads);
  trace.end_region();
}

void Pool::run_parts(int64_t parts, Body body, void* context, int max_threads) {
  State& s = *state_;
  bool runs_alone = parts <= 1 || max_threads <= 1 || threads() == 1 || inside_region;
  std::unique_lock lock(s.caller_mutex, std::defer_lock);
  if (runs_alone || !lock.try_lock()) {
    for (int64_t part = 0; part < parts; ++part) body(context, part, 0);
    return;
  }
  s.body = body;
  s.context = context;
  s.divide(parts, std::min(max_threads, threads()));
  s.open();
  s.run_parts_as(0);
  s.close();
  if (s.has_failed.exchange(false)) std::rethrow_exception(std::exchange(s.error, nullptr));
}

}  // namespace crescent::cpu
