// Finds the k largest values of each line; to sort is to find all values of a line in this order.
#include <algorithm>
#include <bit>
#include <functional>

#include "data_movement/sort_topk.h"
#include "data_movement/sorted_entries.h"

namespace crescent::cpu {
namespace {

template <class T>
class TopKKernel final : public Kernel {
 public:
  TopKKernel(AxisView view, int64_t k)
      : view_(view), k_(k), part_count_(std::min<int64_t>(view.outer, kMaxParts)) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(part_count_, [&](int64_t part, int) {
      auto* entries = reinterpret_cast<LineEntry*>(a.scratch) + 2 * part * view_.length;
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
  // number of values that are compared with the lower bound in one step
  static constexpr int64_t kValuesPerStep = 32;

  void run_line(const Arguments& a, int64_t line, LineEntry* entries) const {
    const T* x = a.in<T>(0) + line * view_.length;
    const LineEntry* sorted_entries =
        k_ < view_.length / 8 ? select_largest(x, entries) : sort_all(x, entries);
    T* values = a.out<T>(0) + line * k_;
    int32_t* top_indices = a.out<int32_t>(1) + line * k_;
    for (int64_t i = 0; i < k_; ++i) {
      values[i] = x[sorted_entries[i].index];
      top_indices[i] = static_cast<int32_t>(sorted_entries[i].index);
    }
  }

  const LineEntry* sort_all(const T* x, LineEntry* entries) const {
    const int64_t n = collect_all(x, entries);
    return sort_entries(entries, entries + n, n);
  }

  /// The k entries with the smallest keys, sorted. They are selected from the values that are at
  /// least a lower bound.
  const LineEntry* select_largest(const T* x, LineEntry* entries) const {
    if (k_ == 0) return entries;
    const int64_t found = has_nan(x) ? collect_all(x, entries) : collect_likely(x, entries);
    std::nth_element(entries, entries + k_ - 1, entries + found);
    std::sort(entries, entries + k_);
    return entries;
  }
  bool has_nan(const T* x) const {
    int found = 0;
    for (int64_t i = 0; i < view_.length; ++i) found |= x[i] != x[i];
    return found != 0;
  }
  int64_t collect_all(const T* x, LineEntry* entries) const {
    for (int64_t i = 0; i < view_.length; ++i) entries[i] = entry_of(x, i);
    return view_.length;
  }
  int64_t collect_likely(const T* x, LineEntry* entries) const {
    const T limit = lower_bound(x, reinterpret_cast<T*>(entries + view_.length));
    int64_t found = 0;
    for (int64_t i = 0; i < view_.length; i += kValuesPerStep) {
      const int64_t end = std::min(i + kValuesPerStep, view_.length);
      if (!has_value_from(x, i, end, limit)) continue;
      for (int64_t index = i; index < end; ++index)
        if (x[index] >= limit) entries[found++] = entry_of(x, index);
    }
    return found;
  }
  /// A value which at least k elements, but not many more, equal or exceed: the elements are
  /// distributed to at least 2k lanes in turn, and the bound is the k-th largest of the maxima of
  /// the lanes.
  T lower_bound(const T* x, T* lanes) const {
    const int64_t n = view_.length;
    const auto lane_count =
        static_cast<uint64_t>(std::max(2 * k_, std::min(kValuesPerStep, n / 2)));
    const auto count = static_cast<int64_t>(std::bit_ceil(lane_count));
    std::copy_n(x, count, lanes);
    for (int64_t begin = count; begin < n; begin += count)
      for (int64_t i = 0, end = std::min(count, n - begin); i < end; ++i)
        lanes[i] = x[begin + i] > lanes[i] ? x[begin + i] : lanes[i];
    std::nth_element(lanes, lanes + k_ - 1, lanes + count, std::greater<T>());
    return lanes[k_ - 1];
  }
  static bool has_value_from(const T* x, int64_t begin, int64_t end, T limit) {
    int found = 0;
    for (int64_t i = begin; i < end; ++i) found |= x[i] >= limit;
    return found != 0;
  }

  AxisView view_;
  int64_t k_, part_count_;
};

}  // namespace

std::unique_ptr<Kernel> make_top_k(const Request& request) {
  auto& op = static_cast<const TopK&>(request.op);
  return with_type(request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
    return std::make_unique<TopKKernel<T>>(AxisView(request.inputs[0].shape, -1), op.k);
  });
}

}  // namespace crescent::cpu
