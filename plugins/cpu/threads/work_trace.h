// WorkTrace: how the work of a kernel is split, for profiles. It records the time of each part of
// its regions, from which the minimum time on any number of cores follows.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace crescent::cpu {

class WorkTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Makes the regions of the calling thread report to the trace during one run of the kernel. Of
  /// several runs, the shortest time of each part counts.
  class Recording {
   public:
    explicit Recording(WorkTrace& trace);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    WorkTrace& trace_;
    Clock::time_point begin_;
  };

  /// The trace that regions of the calling thread report to; null when there is none.
  static WorkTrace* current() {
    return runs_.load(std::memory_order_relaxed) > 0 ? of_this_thread() : nullptr;
  }

  /// Begins a region; regions within it do not report. Part i reports its time with ended(i, ...)
  /// from any thread.
  void begin_region(int64_t parts);
  void ended(int64_t part, Clock::duration took) { times_[part] = took; }
  void end_region();
  /// Ends a region with `parts` equal parts in place of the ones that it began with; `work` is
  /// their time on one thread, and at most `most` threads share them.
  void end_region(int64_t parts, int64_t most, Clock::duration work);

  /// The time of a run on `cores` cores, each of which takes the next part whenever it is idle.
  double seconds_on(int cores) const;
  int64_t parts() const;  ///< number of parts of the longest region; 1 if there is no region
  /// Fraction of the longest region's time that its longest part takes.
  double largest_part() const;

 private:
  struct Region {
    std::vector<double> parts;  ///< seconds
    int64_t most;               ///< threads
    double seconds() const;
    double seconds_on(int64_t cores) const;
  };
  static WorkTrace* of_this_thread();
  void add(Region region);
  const Region* longest() const;

  inline static std::atomic<int> runs_{0};  ///< runs on any thread

  std::vector<Region> regions_;
  std::vector<Clock::duration> times_;  ///< times of the current region's parts
  Clock::time_point region_begin_;
  size_t next_ = 0;           ///< index of the next region in this run
  Clock::duration inside_{};  ///< time in regions so far in this run
  double outside_ = -1;       ///< seconds outside of regions; -1 before the first run
};

}  // namespace crescent::cpu
