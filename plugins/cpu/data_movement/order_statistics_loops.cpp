// Finds elements of given ranks in each line. The range of the keys of a line is divided into equal
// intervals; the entries of each interval are counted, and only the intervals that contain a wanted
// rank are sorted. Lines that are short, or of which many ranks are wanted, are sorted as a whole.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "data_movement/sort_topk.h"
#include "data_movement/sorted_entries.h"

namespace crescent::cpu {
namespace {

template <class T>
class OrderStatisticsKernel final : public Kernel {
 public:
  OrderStatisticsKernel(const AxisView& view, int64_t rank_count)
      : view_(view), rank_count_(rank_count), part_count_(std::min(view.outer, kMaxParts)) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(part_count_, [&](int64_t part, int) {
      LineEntry* entries = reinterpret_cast<LineEntry*>(a.scratch) + 2 * part * view_.length;
      const int64_t end = view_.outer * (part + 1) / part_count_;
      for (int64_t line = view_.outer * part / part_count_; line < end; ++line)
        run_line(a, line, entries);
    });
  }
  std::string name() const override { return "loop"; }
  size_t scratch_bytes() const override {
    return 2 * part_count_ * view_.length * sizeof(LineEntry);
  }

 private:
  using Key = decltype(key_of(T{}));
  using LineEntry = Entry<Key>;
  static constexpr int64_t kMaxParts = 64;
  // Sorting a line takes as long as reading it this many times.
  static constexpr int64_t kMaxSelectedRanks = 16;
  static constexpr int64_t kMinSelectedLength = 512;  // shorter lines are sorted
  static constexpr int kIntervalBits = 11;
  static constexpr size_t kIntervals = size_t{1} << kIntervalBits;
  // number of keys that are compared with the bounds of an interval in one step
  static constexpr int64_t kKeysPerStep = 32;

  /// The intervals of the keys of a line. Interval i has the keys from min_key + (i << shift) on;
  /// starts[i] is the number of entries with smaller keys.
  struct Intervals {
    Key min_key;
    int shift;
    std::array<uint32_t, kIntervals + 1> starts;
    size_t interval_of(Key key) const { return static_cast<size_t>((key - min_key) >> shift); }
  };

  void run_line(const Arguments& a, int64_t line, LineEntry* entries) const {
    const T* x = a.in<T>(0) + line * view_.length;
    const int32_t* ranks = a.in<int32_t>(1) + line * rank_count_;
    const auto write_entry = [&](int64_t i, const LineEntry& entry) {
      a.out<T>(0)[line * rank_count_ + i] = x[entry.index];
      a.out<int32_t>(1)[line * rank_count_ + i] = static_cast<int32_t>(entry.index);
    };
    if (rank_count_ > kMaxSelectedRanks || view_.length < kMinSelectedLength)
      write_from_sorted_line(x, ranks, entries, write_entry);
    else
      write_from_intervals(x, ranks, entries, write_entry);
  }
  /// The position of the entry of this rank among the entries in the order of their keys.
  int64_t position_of(int32_t rank) const {
    return view_.length - 1 - std::clamp<int64_t>(rank, 0, view_.length - 1);
  }

  template <class Write>
  void write_from_sorted_line(const T* x, const int32_t* ranks, LineEntry* entries,
                              Write&& write_entry) const {
    for (int64_t i = 0; i < view_.length; ++i) entries[i] = entry_of(x, i);
    const LineEntry* sorted_entries = sort_entries(entries, entries + view_.length, view_.length);
    for (int64_t i = 0; i < rank_count_; ++i) write_entry(i, sorted_entries[position_of(ranks[i])]);
  }

  template <class Write>
  void write_from_intervals(const T* x, const int32_t* ranks, LineEntry* entries,
                            Write&& write_entry) const {
    const Intervals intervals = count_intervals(x);
    const LineEntry* sorted_entries = nullptr;
    size_t sorted_interval = kIntervals;
    for (int64_t i = 0; i < rank_count_; ++i) {
      const auto position = static_cast<uint32_t>(position_of(ranks[i]));
      const auto& starts = intervals.starts;
      const auto interval = static_cast<size_t>(
          std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() - 1);
      if (interval != sorted_interval) {
        const int64_t n = write_entries(x, intervals, interval, entries);
        sorted_entries = sort_entries(entries, entries + n, n);
        sorted_interval = interval;
      }
      write_entry(i, sorted_entries[position - starts[interval]]);
    }
  }

  Intervals count_intervals(const T* x) const {
    Key min_key = std::numeric_limits<Key>::max(), max_key = 0;
    for (int64_t i = 0; i < view_.length; ++i) {
      const Key key = key_of(x[i]);
      min_key = std::min(min_key, key), max_key = std::max(max_key, key);
    }
    Intervals intervals{
        min_key,
        std::max(static_cast<int>(std::bit_width(max_key - min_key)) - kIntervalBits, 0),
        {}};
    for (int64_t i = 0; i < view_.length; ++i)
      ++intervals.starts[intervals.interval_of(key_of(x[i])) + 1];
    for (size_t i = 0; i < kIntervals; ++i) intervals.starts[i + 1] += intervals.starts[i];
    return intervals;
  }

  /// Writes the entries of an interval, in the order of their indices; returns their number.
  int64_t write_entries(const T* x, const Intervals& intervals, size_t interval,
                        LineEntry* entries) const {
    int64_t found = 0;
    for (int64_t i = 0; i < view_.length; i += kKeysPerStep) {
      const int64_t end = std::min(i + kKeysPerStep, view_.length);
      if (!has_key_in(x, i, end, intervals, interval)) continue;
      for (int64_t index = i; index < end; ++index)
        if (intervals.interval_of(key_of(x[index])) == interval)
          entries[found++] = entry_of(x, index);
    }
    return found;
  }
  static bool has_key_in(const T* x, int64_t begin, int64_t end, const Intervals& intervals,
                         size_t interval) {
    int found = 0;
    for (int64_t i = begin; i < end; ++i)
      found |=
          ((key_of(x[i]) - intervals.min_key) >> intervals.shift) == static_cast<Key>(interval);
    return found != 0;
  }

  AxisView view_;
  int64_t rank_count_, part_count_;
};

}  // namespace

std::unique_ptr<Kernel> make_order_statistics(const Request& request) {
  const AxisView view(request.inputs[0].shape, -1);
  if (request.inputs[1].dtype != DType::int32 || view.length == 0 || view.length > INT32_MAX)
    return nullptr;
  return with_type(request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
    return std::make_unique<OrderStatisticsKernel<T>>(view, request.inputs[1].shape[-1]);
  });
}

}  // namespace crescent::cpu
