// How an input that is smaller than the result is read in the order of the result's elements.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

/// Walks the elements of a row-major result and finds those of the broadcast input. Axes along
/// which both advance alike are merged, so most broadcasts have one or two.
class Broadcast {
 public:
  Broadcast() = default;
  Broadcast(const Shape& input, const Shape& result) : Broadcast(input, result, input, 0) {}
  /// The input is cut out of `whole`, where it begins at element `first`.
  Broadcast(const Shape& input, const Shape& result, const Shape& whole, int64_t first);

  /// The input has one element.
  bool is_scalar() const { return rank_ == 0 || (rank_ == 1 && stride_[0] == 0); }
  /// The input has every element of the result.
  bool is_identity() const {
    return first_ == 0 && (rank_ == 0 || (rank_ == 1 && stride_[0] == 1));
  }
  /// p when element i of the result is element i mod p of the input; else 0.
  int64_t period() const { return rank_ == 2 && stride_[0] == 0 && stride_[1] == 1 ? size_[1] : 0; }

  /// Along so many elements of the result, from a multiple of it on, the input goes on by one each
  /// or stays where it is: 1 where it jumps from each element to the next.
  int64_t run() const {
    const size_t inner = static_cast<size_t>(std::max(rank_ - 1, 0));
    return rank_ == 0 || stride_[inner] > 1 ? 1 : size_[inner];
  }
  bool stays() const { return rank_ > 0 && stride_[static_cast<size_t>(rank_ - 1)] == 0; }
  /// The input's element for element `i` of the result.
  int64_t place(int64_t i) const {
    int64_t offset = first_;
    for (size_t axis = static_cast<size_t>(rank_); axis-- > 0; i /= size_[axis])
      offset += i % size_[axis] * stride_[axis];
    return offset;
  }

  /// Copies the input's elements for [begin, begin + n) of the result.
  void gather(const std::byte* input, size_t bytes, int64_t begin, int64_t n, std::byte* to) const;

 private:
  template <class T>
  void gather(const T* input, int64_t begin, int64_t n, T* to) const;

  int rank_ = 0;
  int64_t first_ = 0;
  std::array<int64_t, Shape::kMaxRank> size_{}, stride_{};
};

}  // namespace crescent::cpu
