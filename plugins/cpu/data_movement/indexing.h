// Kernels that read or write at integer indices. The op check_indices checks the indices before
// these kernels run; the kernels clamp indices that are out of range (one_hot gives a row of zeros
// for them).
#pragma once
#include <algorithm>

#include "kernel/kernel.h"

namespace crescent::cpu {

/// Reads indices of any integer dtype.
class IndexReader {
 public:
  explicit IndexReader(DType dtype) : dtype_(dtype) {}
  bool is_readable() const { return is_integer(dtype_) || dtype_ == DType::boolean; }
  int64_t at(const std::byte* indices, int64_t i) const {
    int64_t number = 0;
    with_typed_indices(indices,
                       [&](const auto* numbers) { number = static_cast<int64_t>(numbers[i]); });
    return number;
  }
  /// Calls f with the address of the indices as a pointer to their type.
  template <class F>
  void with_typed_indices(const std::byte* indices, F&& f) const {
    switch (dtype_) {
      case DType::int32:
        return f(reinterpret_cast<const int32_t*>(indices));
      case DType::int64:
        return f(reinterpret_cast<const int64_t*>(indices));
      case DType::int16:
        return f(reinterpret_cast<const int16_t*>(indices));
      case DType::int8:
        return f(reinterpret_cast<const int8_t*>(indices));
      default:
        return f(reinterpret_cast<const uint8_t*>(indices));
    }
  }
  const std::byte* address_of(const std::byte* indices, int64_t i) const {
    return indices + static_cast<size_t>(i) * size_of(dtype_);
  }
  int64_t clamped_index(const std::byte* indices, int64_t i, int64_t length) const {
    return std::clamp<int64_t>(at(indices, i), 0, length - 1);
  }

 private:
  DType dtype_;
};

/// Where a GatherLoop reads element i, for the index k = indices[i].
enum class GatherPattern {
  line,     ///< from[k]: the elements of one line
  columns,  ///< from[k * stride + i]: an element of each column
  lines     ///< from[k + i * stride]: an element of each line
};

/// Gathers n elements. An index k is in [0, length); others are clamped.
using GatherLoop = void (*)(const void* from, const void* indices, int64_t n, int64_t length,
                            int64_t stride, void* to);
/// The loop for elements of `bytes` bytes; null if there is none.
GatherLoop gather_loop(size_t bytes, DType indices, GatherPattern pattern);

/// Finds the minimum and the maximum of n > 0 values.
using ExtremesLoop = void (*)(const void* x, int64_t n, void* min, void* max);
/// The loop for integers of `bytes` bytes; null if there is none.
ExtremesLoop extremes_loop(size_t bytes, bool is_signed);

/// For each row of a table, the positions at which an array of indices contains the number of that
/// row, in ascending order. The caller provides the memory for the lists.
class RowLists {
 public:
  RowLists(const TensorSpec& indices, int64_t rows)
      : indices_(indices.dtype), index_count_(indices.shape.size()), row_count_(rows) {}
  bool is_possible() const {
    return indices_.is_readable() && std::max(index_count_, row_count_) < INT32_MAX;
  }
  size_t bytes() const { return (row_count_ + index_count_) * sizeof(int32_t); }
  void build(const std::byte* indices, int32_t* lists) const {
    std::fill_n(lists, row_count_, int32_t{-1});
    for (int64_t i = index_count_ - 1; i >= 0; --i) {
      int32_t& first = lists[indices_.clamped_index(indices, i, row_count_)];
      lists[row_count_ + i] = first;
      first = static_cast<int32_t>(i);
    }
  }
  /// Calls f(i) for every position i whose index is `row`.
  template <class F>
  void for_each(const int32_t* lists, int64_t row, F&& f) const {
    for (int32_t i = lists[row]; i >= 0; i = lists[row_count_ + i]) f(int64_t{i});
  }

 private:
  IndexReader indices_;
  int64_t index_count_, row_count_;
};

std::unique_ptr<Kernel> make_check_indices(const Request& request);
std::unique_ptr<Kernel> make_gather(const Request& request);
std::unique_ptr<Kernel> make_take_along(const Request& request);
std::unique_ptr<Kernel> make_scatter_add(const Request& request);
std::unique_ptr<Kernel> make_converted_scatter_add(const Request& request);
std::unique_ptr<Kernel> make_one_hot(const Request& request);

}  // namespace crescent::cpu
