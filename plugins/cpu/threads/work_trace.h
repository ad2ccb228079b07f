// How the work of a kernel is cut: what each part of its regions takes, and from that the time that
// so many cores would need at least. For profiles.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace crescent::cpu {

class WorkTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// A run of the kernel on the calling thread: its regions report to the trace as long as this
  /// lives. Of several runs the shortest time of every part counts.
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

  /// A region begins; regions within it do not report. Part i tells what it took with
  /// ended(i, ...), from any thread.
  void begin_region(int64_t parts);
  void ended(int64_t part, Clock::duration took) { times_[static_cast<size_t>(part)] = took; }
  void end_region();
  /// Instead of the parts that began: so many equal ones, which are one thread's work of so long
  /// and are shared by `most` threads at most.
  void end_region(int64_t parts, int64_t most, Clock::duration work);

  /// Of a run on so many cores, whoever is free taking the next part.
  double seconds_on(int cores) const;
  int64_t parts() const;  ///< of the region that most of the time goes to; 1 when there is none
  double largest_part() const;  ///< its share of that region

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

  inline static std::atomic<int> runs_{0};  ///< of any thread

  std::vector<Region> regions_;
  std::vector<Clock::duration> times_;  ///< of the region that runs
  Clock::time_point region_begin_;
  size_t next_ = 0;           ///< region of the run at hand
  Clock::duration inside_{};  ///< regions, of the run at hand so far
  double outside_ = -1;       ///< seconds outside of regions; none before the first run
};

}  // namespace crescent::cpu
