#include "threads/work_trace.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace crescent::cpu {
namespace {

thread_local WorkTrace* current_trace = nullptr;

double seconds_of(WorkTrace::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

WorkTrace* WorkTrace::of_this_thread() { return current_trace; }

WorkTrace::Recording::Recording(WorkTrace& trace) : trace_(trace) {
  ++recorded_runs_;
  current_trace = &trace;
  trace.next_region_ = 0, trace.region_time_ = {};
  begin_ = Clock::now();
}

WorkTrace::Recording::~Recording() {
  const double seconds_outside = seconds_of(Clock::now() - begin_ - trace_.region_time_);
  trace_.serial_seconds_ = trace_.serial_seconds_ < 0
                               ? seconds_outside
                               : std::min(trace_.serial_seconds_, seconds_outside);
  current_trace = nullptr;
  --recorded_runs_;
}

void WorkTrace::begin_region(int64_t parts) {
  times_.assign(parts, {});
  current_trace = nullptr;
  region_begin_ = Clock::now();
}

void WorkTrace::end_region() {
  Region region{{}, std::numeric_limits<int64_t>::max()};
  for (Clock::duration time : times_) region.parts.push_back(seconds_of(time));
  add_region(std::move(region));
}

void WorkTrace::end_region(int64_t parts, int64_t max_threads, Clock::duration work) {
  const double part_seconds = seconds_of(work) / static_cast<double>(parts);
  add_region({std::vector<double>(parts, part_seconds), max_threads});
}

void WorkTrace::add_region(Region region) {
  region_time_ += Clock::now() - region_begin_;
  current_trace = this;
  if (next_region_ == regions_.size()) regions_.push_back(region);
  Region& earlier_region = regions_[next_region_++];
  if (earlier_region.parts.size() != region.parts.size()) {
    earlier_region = std::move(region);
    return;
  }
  for (size_t i = 0; i < earlier_region.parts.size(); ++i)
    earlier_region.parts[i] = std::min(earlier_region.parts[i], region.parts[i]);
}

double WorkTrace::Region::seconds() const {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double WorkTrace::Region::seconds_on(int64_t cores) const {
  std::priority_queue<double, std::vector<double>, std::greater<>> core_free_times;
  for (int64_t i = 0; i < std::min(cores, max_threads); ++i) core_free_times.push(0);
  double end = 0;
  for (double part : parts) {
    const double part_end = core_free_times.top() + part;
    core_free_times.pop(), core_free_times.push(part_end);
    end = std::max(end, part_end);
  }
  return end;
}

double WorkTrace::seconds_on(int cores) const {
  double seconds = std::max(0.0, serial_seconds_);
  for (const Region& region : regions_) seconds += region.seconds_on(cores);
  return seconds;
}

const WorkTrace::Region* WorkTrace::longest_region() const {
  auto shorter = [](const Region& a, const Region& b) { return a.seconds() < b.seconds(); };
  const auto found = std::max_element(regions_.begin(), regions_.end(), shorter);
  return found == regions_.end() ? nullptr : &*found;
}

int64_t WorkTrace::parts() const {
  const Region* region = longest_region();
  return region ? static_cast<int64_t>(region->parts.size()) : 1;
}

double WorkTrace::largest_part() const {
  const Region* region = longest_region();
  const double total = region ? region->seconds() : 0;
  return total > 0 ? *std::max_element(region->parts.begin(), region->parts.end()) / total : 1;
}

}  // namespace crescent::cpu
