// Sorts the values of a line from the largest to the smallest. A value is converted to an integer
// key, smaller for larger values, which is stored with the index of the value.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace crescent::cpu {

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
template <class EntryType>
void merge_halves(const EntryType* from, int64_t n, EntryType* to) {
  const int64_t half = n / 2;
  const EntryType *low = from, *high = from + half, *low_end = from + half - 1,
                  *high_end = from + n - 1;
  for (int64_t i = 0; i < half; ++i) {
    const bool takes_high = *high < *low, takes_low = *high_end < *low_end;
    to[i] = *(takes_high ? high : low);
    to[n - 1 - i] = *(takes_low ? low_end : high_end);
    high += takes_high, low += !takes_high;
    low_end -= takes_low, high_end -= !takes_low;
  }
}

/// Merge sort for short arrays. Returns the array, `a` or `b`, that holds the result.
template <class EntryType>
EntryType* merge_sort(EntryType* a, EntryType* b, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2, std::swap(a, b)) {
    int64_t begin = 0;
    for (; begin + 2 * width <= n; begin += 2 * width)
      merge_halves(a + begin, 2 * width, b + begin);
    const int64_t middle = std::min(begin + width, n);
    std::merge(a + begin, a + middle, a + middle, a + n, b + begin);
  }
  return a;
}

/// The entry of the value at an index of x.
template <class T>
auto entry_of(const T* x, int64_t index) {
  Entry<decltype(key_of(T{}))> entry;
  entry.key = key_of(x[index]);
  entry.index = static_cast<uint32_t>(index);
  return entry;
}

/// Sorts the n entries of `a`, stably by key. Returns the array, `a` or `b`, that holds the result.
template <class EntryType>
EntryType* sort_entries(EntryType* a, EntryType* b, int64_t n) {
  constexpr int64_t kMaxMergeSorted = 256;
  if (n < kMaxMergeSorted) return merge_sort(a, b, n);
  return radix_sort(a, b, static_cast<size_t>(n));
}

}  // namespace crescent::cpu
