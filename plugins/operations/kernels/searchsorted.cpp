// Kernels that find the positions of numbers in a sorted list, and whether numbers are in a set.
#include <algorithm>
#include <bit>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"

namespace crescent::operations {
namespace {

/// Binary search of `value` in a sorted list, without branches that depend on the numbers. With
/// `right`, equal numbers are before the position that is found.
template <bool right, class T>
int32_t position_in(const T* list, int64_t count, T value) {
  const auto is_before = [&](T number) { return right ? !(number > value) : !(number >= value); };
  if (count == 0) return 0;
  const T* first = list;
  while (count > 1) {
    const int64_t half = count / 2;
    first = is_before(first[half - 1]) ? first + half : first;
    count -= half;
  }
  return static_cast<int32_t>(first - list) + (is_before(*first) ? 1 : 0);
}

/// Finds the positions of values [begin, end) in a sorted list.
template <class T>
void find_positions(bool right, const T* list, int64_t count, const T* values, int32_t* to,
                    int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    to[i] = right ? position_in<true>(list, count, values[i])
                  : position_in<false>(list, count, values[i]);
}

class SearchsortedKernel final : public CpuKernel {
 public:
  static void describe(Schema<SearchsortedKernel>& s) {
    s.doc("Runs on several threads, each with some values.");
  }
  bool prepare(const CpuRequest& r) override {
    is_right_ = r.op_as<Searchsorted>()->right;
    dtype_ = r.inputs[0].dtype;
    list_size_ = r.inputs[0].shape.size(), value_count_ = r.inputs[1].shape.size();
    return true;
  }
  void run(const CpuArguments& a) override {
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(value_count_, 2048, [&](int64_t begin, int64_t end) {
        find_positions<T>(is_right_, a.in<T>(0), list_size_, a.in<T>(1), a.out<int32_t>(0), begin,
                          end);
      });
    });
  }

 private:
  bool is_right_ = false;
  DType dtype_ = DType::float32;
  int64_t list_size_ = 0, value_count_ = 0;
};

// ---- membership in sets of numbers

/// A set of numbers. If there are few, they are compared one by one; integers in a small range are
/// marked in a table; other numbers are in a hash table, by their bits.
template <class T>
class NumberSet {
 public:
  /// The bytes of memory that a set of `count` numbers needs.
  static size_t bytes(int64_t count) {
    return count > kMaxComparedNumbers ? slot_count(count) * sizeof(T) : 0;
  }

  NumberSet(const T* numbers, int64_t count, std::byte* memory)
      : numbers_(numbers), count_(count), bytes_(bytes(count)) {
    const T* first = std::find_if(numbers, numbers + count, [](T x) { return x == x; });
    // NaN equals no number, so a set of only NaN is empty
    if (first == numbers + count) count_ = 0;
    if (count_ <= kMaxComparedNumbers) return;
    if (std::is_integral_v<T> && mark_numbers(reinterpret_cast<uint8_t*>(memory))) return;
    fill(reinterpret_cast<T*>(memory), *first);
  }
  /// For each x in [begin, end), writes `value_if_found` if x is in the set, and the other boolean
  /// if it is not.
  void write_membership(const T* x, int64_t begin, int64_t end, bool value_if_found,
                        bool* to) const {
    if (count_ <= kMaxComparedNumbers) return compare(x, begin, end, value_if_found, to);
    for (int64_t i = begin; i < end; ++i)
      to[i] = (marks_ ? is_marked(x[i]) : is_in(x[i])) == value_if_found;
  }

 private:
  static constexpr int64_t kMaxComparedNumbers = 32;

  static size_t slot_count(int64_t count) {
    return std::bit_ceil(std::max<size_t>(4 * static_cast<size_t>(count), 4096));
  }

  // ---- integers in a small range: a table

  uint64_t offset(T x) const {
    return static_cast<uint64_t>(static_cast<int64_t>(x)) - static_cast<uint64_t>(low_);
  }
  bool mark_numbers(uint8_t* marks) {
    const auto [low, high] = std::minmax_element(numbers_, numbers_ + count_);
    low_ = static_cast<int64_t>(*low), range_ = offset(*high) + 1;
    if (range_ == 0 || range_ > bytes_) return false;
    std::fill_n(marks, range_, uint8_t{0});
    for (int64_t i = 0; i < count_; ++i) marks[offset(numbers_[i])] = 1;
    marks_ = marks;
    return true;
  }
  bool is_marked(T x) const { return offset(x) < range_ && marks_[offset(x)] != 0; }

  // ---- a hash table; its empty slots contain a number that is in the set

  size_t first_slot(T x) const {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<T>)
      // adding 0 turns -0, which equals 0, into 0, so that both have the same bits
      bits = std::bit_cast<Bits>(x + T(0));
    else
      bits = static_cast<uint64_t>(static_cast<int64_t>(x));
    return static_cast<size_t>((bits * 0x9e3779b97f4a7c15u) >> shift_);
  }
  /// The slot that contains x, or the empty slot in which x would be.
  size_t slot_of(T x) const {
    size_t slot_index = first_slot(x);
    while (!(slots_[slot_index] == x) && !(slots_[slot_index] == empty_number_))
      slot_index = (slot_index + 1) & mask_;
    return slot_index;
  }
  void fill(T* slots, T empty_number) {
    const size_t size = bytes_ / sizeof(T);
    std::fill_n(slots, size, empty_number);
    slots_ = slots, empty_number_ = empty_number, mask_ = size - 1,
    shift_ = 64 - std::countr_zero(size);
    for (int64_t i = 0; i < count_; ++i)
      if (const T x = numbers_[i]; x == x && !(x == empty_number)) slots[slot_of(x)] = x;
  }
  bool is_in(T x) const { return x == empty_number_ || slots_[slot_of(x)] == x; }

  // ---- few numbers, which are compared one by one

  /// Compares values block by block. Results are as wide as the values, so that the compiler
  /// vectorizes the loops.
  void compare(const T* x, int64_t begin, int64_t end, bool value_if_found, bool* to) const {
    using Answer =
        std::conditional_t<sizeof(T) == 8, int64_t,
                           std::conditional_t<sizeof(T) == 4, int32_t,
                                              std::conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;
    constexpr int64_t kBlock = 64;
    for (; begin < end; begin += kBlock) {
      const int64_t n = std::min(kBlock, end - begin);
      T block[kBlock] = {};
      std::copy_n(x + begin, n, block);
      Answer is_equal[kBlock] = {};
      for (int64_t k = 0; k < count_; ++k) {
        const T number = numbers_[k];
        for (int64_t i = 0; i < kBlock; ++i)
          is_equal[i] = static_cast<Answer>(is_equal[i] | (block[i] == number ? -1 : 0));
      }
      for (int64_t i = 0; i < n; ++i) to[begin + i] = (is_equal[i] != 0) == value_if_found;
    }
  }

  const T* numbers_;
  int64_t count_;
  size_t bytes_;
  const uint8_t* marks_ = nullptr;
  int64_t low_ = 0;
  uint64_t range_ = 0;
  const T* slots_ = nullptr;
  T empty_number_ = T();
  size_t mask_ = 0;
  int shift_ = 0;
};

class IsinKernel final : public CpuKernel {
 public:
  static void describe(Schema<IsinKernel>& s) {
    s.doc("Runs on several threads, each with some values.");
  }
  bool prepare(const CpuRequest& r) override {
    value_if_found_ = !r.op_as<Isin>()->invert;
    dtype_ = r.inputs[0].dtype;
    value_count_ = r.inputs[0].shape.size(), count_ = r.inputs[1].shape.size();
    return true;
  }
  size_t scratch_bytes() const override {
    size_t bytes = 0;
    with_type(dtype_, [&]<class T>(T) { bytes = NumberSet<T>::bytes(count_); });
    return bytes;
  }
  void run(const CpuArguments& a) override {
    with_type(dtype_, [&]<class T>(T) {
      const NumberSet<T> set(a.in<T>(1), count_, a.scratch);
      a.threads.blocks(value_count_, 8192, [&](int64_t begin, int64_t end) {
        set.write_membership(a.in<T>(0), begin, end, value_if_found_, a.out<bool>(0));
      });
    });
  }

 private:
  bool value_if_found_ = true;
  DType dtype_ = DType::float32;
  int64_t value_count_ = 0, count_ = 0;
};

}  // namespace

CRESCENT_REGISTER(searchsorted_kernels) {
  registry.add<SearchsortedKernel>(Searchsorted::kName);
  registry.add<IsinKernel>(Isin::kName);
}

}  // namespace crescent::operations
