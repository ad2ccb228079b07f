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
  OrderStatisticsKernel(const AxisView& view, int64_t ranks)
      : view_(view), ranks_(ranks), parts_(std::min(view.outer, kMaxParts)) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(parts_, [&](int64_t part, int) {
      Each* entries = reinterpret_cast<Each*>(a.scratch) + 2 * part * view_.length;
      const int64_t end = view_.outer * (part + 1) / parts_;
      for (int64_t line = view_.outer * part / parts_; line < end; ++line)
        run_line(a, line, entries);
    });
  }
  std::string name() const override { return "loop"; }
  size_t scratch_bytes() const override { return 2 * parts_ * view_.length * sizeof(Each); }

 private:
  using Key = decltype(key_of(T{}));
  using Each = Entry<Key>;
  static constexpr int64_t kMaxParts = 64;
  // Sorting a line takes as long as reading it this many times.
  static constexpr int64_t kMaxSelected = 16;
  static constexpr int64_t kMinSelectedFrom = 512;  // shorter lines are sorted
  static constexpr int kBits = 11;
  static constexpr size_t kIntervals = size_t{1} << kBits;
  // number of keys that are compared with the bounds of an interval in one step
  static constexpr int64_t kKeysPerStep = 32;

  /// The intervals of the keys of a line. Interval i has the keys from least + (i << shift) on;
  /// starts[i] is the number of entries with smaller keys.
  struct Intervals {
    Key least;
    int shift;
    std::array<uint32_t, kIntervals + 1> starts;
    size_t of(Key key) const { return static_cast<size_t>((key - least) >> shift); }
  };

  void run_line(const Arguments& a, int64_t line, Each* entries) const {
    const T* x = a.in<T>(0) + line * view_.length;
    const int32_t* ranks = a.in<int32_t>(1) + line * ranks_;
    const auto write = [&](int64_t i, const Each& entry) {
      a.out<T>(0)[line * ranks_ + i] = x[entry.index];
      a.out<int32_t>(1)[line * ranks_ + i] = static_cast<int32_t>(entry.index);
    };
    if (ranks_ > kMaxSelected || view_.length < kMinSelectedFrom)
      from_sorted(x, ranks, entries, write);
    else
      from_intervals(x, ranks, entries, write);
  }
  /// The position of the entry of this rank among the entries in the order of their keys.
  int64_t position_of(int32_t rank) const {
    return view_.length - 1 - std::clamp<int64_t>(rank, 0, view_.length - 1);
  }

  template <class Write>
  void from_sorted(const T* x, const int32_t* ranks, Each* entries, Write&& write) const {
    for (int64_t i = 0; i < view_.length; ++i) entries[i] = entry_of(x, i);
    const Each* sorted = sort_entries(entries, entries + view_.length, view_.length);
    for (int64_t i = 0; i < ranks_; ++i) write(i, sorted[position_of(ranks[i])]);
  }

  template <class Write>
  void from_intervals(const T* x, const int32_t* ranks, Each* entries, Write&& write) const {
    const Intervals intervals = count(x);
    const Each* sorted = nullptr;
    size_t sorted_interval = kIntervals;
    for (int64_t i = 0; i < ranks_; ++i) {
      const auto position = static_cast<uint32_t>(position_of(ranks[i]));
      const auto& starts = intervals.starts;
      const auto interval = static_cast<size_t>(
          std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() - 1);
      if (interval != sorted_interval) {
        const int64_t n = write_entries(x, intervals, interval, entries);
        sorted = sort_entries(entries, entries + n, n);
        sorted_interval = interval;
      }
      write(i, sorted[position - starts[interval]]);
    }
  }

  Intervals count(const T* x) const {
    Key least = std::numeric_limits<Key>::max(), most = 0;
    for (int64_t i = 0; i < view_.length; ++i) {
      const Key key = key_of(x[i]);
      least = std::min(least, key), most = std::max(most, key);
    }
    Intervals intervals{
        least, std::max(static_cast<int>(std::bit_width(most - least)) - kBits, 0), {}};
    for (int64_t i = 0; i < view_.length; ++i) ++intervals.starts[intervals.of(key_of(x[i])) + 1];
    for (size_t i = 0; i < kIntervals; ++i) intervals.starts[i + 1] += intervals.starts[i];
    return intervals;
  }

  /// Writes the entries of an interval, in the order of their indices; returns their number.
  int64_t write_entries(const T* x, const Intervals& intervals, size_t interval,
                        Each* entries) const {
    int64_t found = 0;
    for (int64_t i = 0; i < view_.length; i += kKeysPerStep) {
      const int64_t end = std::min(i + kKeysPerStep, view_.length);
      if (!any_in(x, i, end, intervals, interval)) continue;
      for (int64_t index = i; index < end; ++index)
        if (intervals.of(key_of(x[index])) == interval) entries[found++] = entry_of(x, index);
    }
    return found;
  }
  static bool any_in(const T* x, int64_t begin, int64_t end, const Intervals& intervals,
                     size_t interval) {
    int found = 0;
    for (int64_t i = begin; i < end; ++i)
      found |= ((key_of(x[i]) - intervals.least) >> intervals.shift) == static_cast<Key>(interval);
    return found != 0;
  }

  AxisView view_;
  int64_t ranks_, parts_;
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
