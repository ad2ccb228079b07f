// Broadcast: maps elements of a result to elements of an input with a smaller shape.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

/// Maps elements of a row-major result to elements of the broadcast input. Adjacent axes with
/// matching strides in both are merged, so most broadcasts have one or two axes.
class Broadcast {
 public:
  Broadcast() = default;
  Broadcast(const Shape& input, const Shape& result) : Broadcast(input, result, input, 0) {}
  /// For an input that is a slice of an array of shape `whole_shape`: the slice begins at element
  /// `first` of the array.
  Broadcast(const Shape& input, const Shape& result, const Shape& whole_shape, int64_t first);

  /// True when the input has one element.
  bool is_scalar() const { return rank_ == 0 || (rank_ == 1 && strides_[0] == 0); }
  /// True when the input has every element of the result, in the same order.
  bool is_identity() const {
    return first_offset_ == 0 && (rank_ == 0 || (rank_ == 1 && strides_[0] == 1));
  }
  /// The number p for which element i of the result is element i mod p of the input; 0 if there is
  /// no such p.
  int64_t period() const {
    return rank_ == 2 && strides_[0] == 0 && strides_[1] == 1 ? sizes_[1] : 0;
  }

  /// The length of a run: a range of the result, beginning at a multiple of this length, along
  /// which the offset in the input is constant or increases by one per element; 1 if there are no
  /// such ranges.
  int64_t run() const {
    const size_t last_axis = std::max(rank_ - 1, 0);
    return rank_ == 0 || strides_[last_axis] > 1 ? 1 : sizes_[last_axis];
  }
  bool is_constant_along_run() const { return rank_ > 0 && strides_[rank_ - 1] == 0; }
  /// The offset in the input of element `i` of the result.
  int64_t offset_of(int64_t i) const {
    int64_t offset = first_offset_;
    for (size_t axis = rank_; axis-- > 0; i /= sizes_[axis])
      offset += i % sizes_[axis] * strides_[axis];
    return offset;
  }

  /// Copies the input's elements that correspond to elements [begin, begin + n) of the result.
  void gather(const std::byte* input, size_t bytes, int64_t begin, int64_t n, std::byte* to) const;

 private:
  template <class T>
  void gather(const T* input, int64_t begin, int64_t n, T* to) const;

  int rank_ = 0;
  int64_t first_offset_ = 0;
  std::array<int64_t, Shape::kMaxRank> sizes_{}, strides_{};
};

}  // namespace crescent::cpu
