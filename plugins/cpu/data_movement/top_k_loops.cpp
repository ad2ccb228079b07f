// Finds the k largest values of each line; to sort is to find all values of a line in this order. A
// value is converted to an integer key, smaller for larger values, which is stored with the index
// of the value.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "data_movement/sort_topk.h"

namespace crescent::cpu {
namespace {

/// A key that is smaller for larger values. NaN counts as larger than all numbers, and -0 as equal
/// to 0.
template <class T>
auto key_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(x + T{0});
    const Bits ascending = bits & kSign ? ~bits : bits | kSign;
    return x != x ? Bits{0} : static_cast<Bits>(~ascending);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = std::is_signed_v<T> ? Bits{1} << (8 * sizeof(Bits) - 1) : Bits{0};
    return static_cast<Bits>(~(static_cast<Bits>(x) ^ kSign));
  }
}

/// A key and an index. Entries are ordered by key, then by index.
template <class Key>
struct Entry {
  Key key;
  uint32_t index;
  bool operator<(const Entry& other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};
template <>
struct Entry<uint32_t> {
  uint32_t index, key;  // key and index are compared together, as one 64-bit number
  bool operator<(const Entry& other) const {
    return std::bit_cast<uint64_t>(*this) < std::bit_cast<uint64_t>(other);
  }
};
static_assert(std::endian::native == std::endian::little);

/// Stable radix sort by key, from the lowest digit to the highest. Returns the array, `a` or `b`,
/// that holds the result.
template <class Key>
Entry<Key>* radix_sort(Entry<Key>* a, Entry<Key>* b, size_t n) {
  constexpr int kBits = 11, kDigits = (8 * sizeof(Key) + kBits - 1) / kBits;
  constexpr size_t kValues = size_t{1} << kBits;
  const auto digit = [](Key key, int d) {
    return static_cast<size_t>(key >> (d * kBits)) & (kValues - 1);
  };
  std::array<std::array<uint32_t, kValues>, kDigits> counts{};
  for (size_t i = 0; i < n; ++i)
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit(a[i].key, d)];
  for (int d = 0; d < kDigits; ++d) {
    auto& starts = counts[d];
    if (starts[digit(a[0].key, d)] == n) continue;  // all keys have the same digit here
    uint32_t start = 0;
    for (uint32_t& count : starts) start += std::exchange(count, start);
    for (size_t i = 0; i < n; ++i) b[starts[digit(a[i].key, d)]++] = a[i];
    std::swap(a, b);
  }
  return a;
}

/// Merges the two sorted halves of an array of n entries from both ends at once. Each end writes
/// half of the result, so no test for an exhausted half is needed.
template <class Each>
void merge_halves(const Each* from, int64_t n, Each* to) {
  const int64_t half = n / 2;
  const Each *low = from, *high = from + half, *low_end = from + half - 1, *high_end = from + n - 1;
  for (int64_t i = 0; i < half; ++i) {
    const bool takes_high = *high < *low, takes_low = *high_end < *low_end;
    to[i] = *(takes_high ? high : low);
    to[n - 1 - i] = *(takes_low ? low_end : high_end);
    high += takes_high, low += !takes_high;
    low_end -= takes_low, high_end -= !takes_low;
  }
}

/// Merge sort for short arrays. Returns the array, `a` or `b`, that holds the result.
template <class Each>
Each* merge_sort(Each* a, Each* b, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2, std::swap(a, b)) {
    int64_t begin = 0;
    for (; begin + 2 * width <= n; begin += 2 * width)
      merge_halves(a + begin, 2 * width, b + begin);
    const int64_t middle = std::min(begin + width, n);
    std::merge(a + begin, a + middle, a + middle, a + n, b + begin);
  }
  return a;
}

template <class T>
class TopKKernel final : public Kernel {
 public:
  TopKKernel(AxisView view, int64_t k)
      : view_(view), k_(k), parts_(std::min<int64_t>(view.outer, kMaxParts)) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(parts_, [&](int64_t part, int) {
      auto* entries = reinterpret_cast<Each*>(a.scratch) + 2 * part * view_.length;
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
  static constexpr int64_t kMaxMergeSorted = 256;  // shorter arrays are sorted by merging
  // number of values that are compared with the lower bound in one step
  static constexpr int64_t kValuesPerStep = 32;

  static Each entry(const T* x, int64_t index) {
    Each entry;
    entry.key = key_of(x[index]);
    entry.index = static_cast<uint32_t>(index);
    return entry;
  }

  void run_line(const Arguments& a, int64_t line, Each* entries) const {
    const T* x = a.in<T>(0) + line * view_.length;
    const Each* sorted = k_ < view_.length / 8 ? selected(x, entries) : all_sorted(x, entries);
    T* values = a.out<T>(0) + line * k_;
    int32_t* places = a.out<int32_t>(1) + line * k_;
    for (int64_t i = 0; i < k_; ++i) {
      values[i] = x[sorted[i].index];
      places[i] = static_cast<int32_t>(sorted[i].index);
    }
  }

  const Each* all_sorted(const T* x, Each* entries) const {
    const int64_t n = take_all(x, entries);
    if (n < kMaxMergeSorted) return merge_sort(entries, entries + n, n);
    return radix_sort(entries, entries + n, n);
  }

  /// The k entries with the smallest keys, sorted. They are selected from the values that are at
  /// least a lower bound.
  const Each* selected(const T* x, Each* entries) const {
    if (k_ == 0) return entries;
    const int64_t found = has_nan(x) ? take_all(x, entries) : take_likely(x, entries);
    std::nth_element(entries, entries + k_ - 1, entries + found);
    std::sort(entries, entries + k_);
    return entries;
  }
  bool has_nan(const T* x) const {
    int found = 0;
    for (int64_t i = 0; i < view_.length; ++i) found |= x[i] != x[i];
    return found != 0;
  }
  int64_t take_all(const T* x, Each* entries) const {
    for (int64_t i = 0; i < view_.length; ++i) entries[i] = entry(x, i);
    return view_.length;
  }
  int64_t take_likely(const T* x, Each* entries) const {
    const T limit = lower_bound(x, reinterpret_cast<T*>(entries + view_.length));
    int64_t found = 0;
    for (int64_t i = 0; i < view_.length; i += kValuesPerStep) {
      const int64_t end = std::min(i + kValuesPerStep, view_.length);
      if (!any_from(x, i, end, limit)) continue;
      for (int64_t index = i; index < end; ++index)
        if (x[index] >= limit) entries[found++] = entry(x, index);
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
  static bool any_from(const T* x, int64_t begin, int64_t end, T limit) {
    int found = 0;
    for (int64_t i = begin; i < end; ++i) found |= x[i] >= limit;
    return found != 0;
  }

  AxisView view_;
  int64_t k_, parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_top_k(const Request& request) {
  auto& op = static_cast<const TopK&>(request.op);
  return with_type(request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
    return std::make_unique<TopKKernel<T>>(AxisView(request.inputs[0].shape, -1), op.k);
  });
}

}  // namespace crescent::cpu
