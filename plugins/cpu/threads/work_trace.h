// WorkTrace: the division of a kernel's work among threads, for profiles. It records the time of
// each part of the kernel's regions, from which the shortest possible time on any number of cores
// is computed.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace crescent::cpu {

class WorkTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Records one run of the kernel: during the lifetime of this object, the regions of the calling
  /// thread report to the trace. Of several runs, the trace keeps the shortest time of each part.
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

  /// The trace to which the regions of the calling thread report; null if there is none.
  static WorkTrace* current() {
    return recorded_runs_.load(std::memory_order_relaxed) > 0 ? of_this_thread() : nullptr;
  }

  /// Begins a region; regions inside of it are not recorded. For each part i, the thread that runs
  /// it must call set_part_time(i, time).
  void begin_region(int64_t parts);
  void set_part_time(int64_t part, Clock::duration duration) { times_[part] = duration; }
  void end_region();
  /// Ends a region whose parts were not timed one by one: it is recorded as `parts` equal parts.
  /// `work` is their total time on one thread, and at most `max_threads` threads share them.
  void end_region(int64_t parts, int64_t max_threads, Clock::duration work);

  /// The estimated time of a run on `cores` cores, each of which takes the next part whenever it is
  /// idle.
  double seconds_on(int cores) const;
  int64_t parts() const;  ///< number of parts of the longest region; 1 if there is no region
  /// The time of the longest part of the longest region, as a fraction of this region's time on one
  /// thread.
  double largest_part() const;

 private:
  struct Region {
    std::vector<double> parts;  ///< times of the parts in seconds
    int64_t max_threads;        ///< largest number of threads that share the parts
    double seconds() const;
    double seconds_on(int64_t cores) const;
  };
  static WorkTrace* of_this_thread();
  void add_region(Region region);
  const Region* longest_region() const;

  /// Number of runs that are being recorded, on all threads.
  inline static std::atomic<int> recorded_runs_{0};

  std::vector<Region> regions_;
  std::vector<Clock::duration> times_;  ///< times of the current region's parts
  Clock::time_point region_begin_;
  size_t next_region_ = 0;         ///< index of the next region in the present run
  Clock::duration region_time_{};  ///< time that the present run has spent in regions so far
  /// Seconds that a run spends outside of regions; -1 before the first run.
  double serial_seconds_ = -1;
};

}  // namespace crescent::cpu
